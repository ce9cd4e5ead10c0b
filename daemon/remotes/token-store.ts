import { statSync } from "node:fs";
import { AppError } from "../../shared/errors.ts";
import type { World } from "../../shared/world.ts";
import { type Home, homeOf } from "../home/home.ts";
import type { Remote, TokenPlace } from "../home/remote.ts";
import { type EntriesOf, entryIdAt, readFromFile, writeToFile } from "./credentials-file.ts";
import { type Keyring, keyringWorks } from "./keyring.ts";

/** Where services' tokens are stored. */
export interface TokenStoreOptions {
  readonly home: Home;
  readonly world: World;
  /** Undefined: there is no keyring to use. */
  readonly keyring: Keyring | undefined;
}

/** The result of looking for a token where it was stored. */
export type FoundToken =
  | { readonly kind: "found"; readonly token: string }
  | { readonly kind: "none" }
  /** The keyring, perhaps locked, does not return it now. It may later. */
  | { readonly kind: "locked" };

/**
 * The tokens of a home's remotes: in the system's keyring if that works, else in a file of mode
 * 0600.
 */
export class TokenStore {
  readonly #options: TokenStoreOptions;

  constructor(options: TokenStoreOptions) {
    this.#options = options;
  }

  /** Stores a token durably and resolves to the place. It is removed from the other place. */
  async put(remote: Remote, token: string): Promise<TokenPlace> {
    const { home, world, keyring } = this.#options;
    const of = this.#of(remote);
    const former = this.#ringDir(of);
    if (keyring && (await keyringWorks(keyring, world))) {
      const stored = await keyring.set(entryIdAt(of), token);
      if (stored.kind === "done") {
        await writeToFile(home.credentials, world, { ...of, ringDir: home.dir });
        await forgetFormer(of, keyring, former);
        return "keyring";
      }
    }
    await writeToFile(home.credentials, world, { ...of, token });
    // From a former login. Where the keyring does not work, nothing can be done about it.
    if (remote.tokenPlace === "keyring" && keyring) {
      await keyring.delete(entryIdAt(of));
      await forgetFormer(of, keyring, former);
    }
    return "file";
  }

  async find(remote: Remote): Promise<FoundToken> {
    const { home, keyring } = this.#options;
    const of = this.#of(remote);
    if (remote.tokenPlace === undefined) return { kind: "none" };
    if (remote.tokenPlace === "file") {
      const { token } = readFromFile(home.credentials, of);
      return token === undefined ? { kind: "none" } : { kind: "found", token };
    }
    const token = keyring && (await this.#findInKeyring(of, keyring));
    return token === undefined ? { kind: "locked" } : { kind: "found", token };
  }

  /** Removes a token from wherever it is. Throws if the keyring has it and can't be used now. */
  async remove(remote: Remote): Promise<void> {
    const { home, world, keyring } = this.#options;
    const of = this.#of(remote);
    if (remote.tokenPlace === "keyring") {
      const former = this.#ringDir(of);
      // One that is locked says that it deleted, and still has it. What it does for another secret,
      // it does for this one.
      const isOpen = keyring !== undefined && (await keyringWorks(keyring, world));
      if (!isOpen || (await keyring.delete(entryIdAt(of))).kind === "failed") {
        await writeToFile(home.credentials, world, { ...of, ringDir: former });
        throw new AppError(
          "internal",
          "the system's keyring does not answer, so the token is still there: unlock it and try " +
            "again",
        );
      }
      await forgetFormer(of, keyring, former);
    }
    await writeToFile(home.credentials, world, of);
  }

  /**
   * Looks for the home's token under its path, and then under the path where the home was when the
   * keyring was given it. From there it is brought over.
   */
  async #findInKeyring(of: EntriesOf, keyring: Keyring): Promise<string | undefined> {
    const answer = await keyring.get(entryIdAt(of));
    if (answer.kind === "failed") return undefined;
    const former = this.#ringDir(of);
    if (answer.value !== null) {
      if (former !== of.dir) await this.#noteDir(of, keyring, former);
      return answer.value;
    }
    if (former === undefined || former === of.dir) return undefined;
    const there = await keyring.get(entryIdAt({ ...of, dir: former }));
    if (there.kind === "failed" || there.value === null) return undefined;
    await keyring.set(entryIdAt(of), there.value);
    const brought = await keyring.get(entryIdAt(of));
    const isHere = brought.kind === "done" && brought.value === there.value;
    if (isHere) await this.#noteDir(of, keyring, former);
    return there.value;
  }

  /** Notes the path under which the keyring has the token now, in place of a former one. */
  async #noteDir(of: EntriesOf, keyring: Keyring, former: string | undefined): Promise<void> {
    const { home, world } = this.#options;
    try {
      await writeToFile(home.credentials, world, { ...of, ringDir: of.dir });
      await forgetFormer(of, keyring, former);
    } catch {
      // Where it can't be written now, the next look notes it. The token is good without that.
    }
  }

  /** Undefined, too, where the file is damaged: whoever writes it next says so. */
  #ringDir(of: EntriesOf): string | undefined {
    try {
      return readFromFile(this.#options.home.credentials, of).ringDir;
    } catch {
      return undefined;
    }
  }

  #of({ account }: Remote): EntriesOf {
    return { dir: this.#options.home.dir, account };
  }
}

/** Deletes the token of the path where this home was, unless the home there is another one. */
async function forgetFormer(
  of: EntriesOf,
  keyring: Keyring,
  former: string | undefined,
): Promise<void> {
  if (former === undefined || former === of.dir || isOtherHome(former, of.dir)) return;
  await keyring.delete(entryIdAt({ ...of, dir: former }));
}

/**
 * Whether there is a home at a path from which this one was copied, then, and not moved. It has
 * its token for itself. What can't be looked at counts as one.
 */
function isOtherHome(former: string, dir: string): boolean {
  try {
    const [there, here] = [former, dir].map((each) => {
      const { database } = homeOf({ MEMSYNC_HOME: each });
      return statSync(database, { throwIfNoEntry: false });
    });
    return there !== undefined && (there.ino !== here?.ino || there.dev !== here.dev);
  } catch {
    return true;
  }
}
