import { existsSync } from "node:fs";
import type { Kysely } from "kysely";
import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Timer, World } from "../../shared/world.ts";
import type { Home } from "../home/home.ts";
import { openHomeReader } from "../home/open-home.ts";
import type { DaemonTables } from "../home/tables.ts";
import { keepChoices, readChoices } from "./choices-file.ts";
import { suspicionOf } from "./find-damage.ts";

/** Many commits come at once. */
const AFTER_COMMIT_MS = 1000;

/** What a keeper works with. */
export interface ChoicesKeeperOptions {
  readonly home: Home;
  readonly world: Pick<World, "setTimer">;
  readonly log: Log;
  /** The home's database where it is open: to open it takes longer than all else here. */
  readonly reader?: () => Kysely<DaemonTables> | undefined;
}

/**
 * Keeps the copy of what people have decided as the database has it. Until the database is damaged
 * that counts, so a failure to write the copy is only logged.
 */
export class ChoicesKeeper {
  readonly #options: ChoicesKeeperOptions;
  #timer: Timer | undefined;
  #isStopped = false;
  #kept: string | undefined;
  #keeping: Promise<void> = Promise.resolve();

  constructor(options: ChoicesKeeperOptions) {
    this.#options = options;
  }

  /** The database may have changed. */
  committed(): void {
    if (this.#isStopped) return;
    this.#timer ??= this.#options.world.setTimer(AFTER_COMMIT_MS, () => void this.keep());
  }

  /** Resolves when the copy is as the database. */
  keep(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#keeping = this.#keeping.then(() => this.#keep());
    return this.#keeping;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.keep();
  }

  async #keep(): Promise<void> {
    const { home, log } = this.#options;
    if (existsSync(suspicionOf(home.database))) return;
    try {
      const choices = await this.#read();
      if (choices === undefined || choices === this.#kept) return;
      keepChoices(home, choices);
      this.#kept = choices;
    } catch (thrown) {
      log.warn({ reason: messageOf(thrown) }, "the copy of what was decided could not be written");
    }
  }

  /** Undefined where there is nothing yet. */
  async #read(): Promise<string | undefined> {
    const open = this.#options.reader?.();
    if (open) return await readChoices(open);
    const reader = await openHomeReader(this.#options.home.database);
    return reader && (await readChoices(reader).finally(() => reader.destroy()));
  }
}
