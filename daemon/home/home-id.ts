import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { base32 } from "../../shared/ids.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import type { World } from "../../shared/world.ts";
import type { Home } from "./home.ts";

const PRIVATE_FILE = 0o600;
const ID_BYTES = 10;
const ID_LENGTH = 16;
const DAMAGED = ".damaged-";

/**
 * A home's random id, by which documents tell two machines of one name apart. It is in a file and
 * not in the database: a database that is made anew is still of the same home, and an earlier
 * version of memsync opens the home as before.
 */
export class HomeId {
  readonly #home: Home;
  readonly #world: World;
  #current: string;

  /**
   * Makes the id if the home has none, or one that is damaged: that file stays beside it, and
   * `status` tells of it. Only the holder of the home may.
   */
  constructor(home: Home, world: World) {
    this.#home = home;
    this.#world = world;
    const { identity } = home;
    const known = readHomeId(home);
    if (known === undefined && existsSync(identity)) {
      const stamp = timestampOf(world.now()).replace(/[:.]/g, "-");
      renameSync(identity, `${identity}${DAMAGED}${stamp}`);
    }
    this.#current = known ?? this.#make();
  }

  get current(): string {
    return this.#current;
  }

  /** The home goes on under another id, for this one is another home's as well. */
  renew(): void {
    this.#current = this.#make();
  }

  #make(): string {
    const made = base32(this.#world.randomBytes(ID_BYTES));
    const { identity } = this.#home;
    const file = openSync(`${identity}.new`, "w", PRIVATE_FILE);
    writeSync(file, `${made}\n`);
    // Without it a loss of power could leave an empty file under the name, and another id.
    fsyncSync(file);
    closeSync(file);
    renameSync(`${identity}.new`, identity);
    return made;
  }
}

/**
 * Undefined where no daemon of a version with such ids has run yet, and where the file holds no id.
 * Throws where the file can't be read: it may hold one, and another in its place would give up what
 * this home has written.
 */
export function readHomeId({ identity }: Home): string | undefined {
  if (!existsSync(identity)) return undefined;
  const text = readFileSync(identity, "utf8").trim();
  return text.length === ID_LENGTH && /^[a-z2-7]+$/.test(text) ? text : undefined;
}

/** Files of this home that were to hold its id and held none, by path, the oldest first. */
export function damagedHomeIds({ identity }: Home): string[] {
  const prefix = basename(identity) + DAMAGED;
  const folder = dirname(identity);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const damaged = names.filter((name) => name.startsWith(prefix)).sort();
  return damaged.map((name) => join(folder, name));
}
