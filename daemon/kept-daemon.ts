import { existsSync } from "node:fs";
import type { Kysely } from "kysely";
import { AppError, messageOf } from "../shared/errors.ts";
import { Daemon, type DaemonOptions } from "./daemon.ts";
import type { DaemonTables } from "./home/tables.ts";
import { ChoicesKeeper } from "./recovery/choices-keeper.ts";
import { suspect, suspicionOf } from "./recovery/find-damage.ts";
import { keepHead } from "./recovery/head-page.ts";
import { recoverHome } from "./recovery/recover-home.ts";
import { LIFE_BEGUN, type LifeEvent, stepLife } from "./supervise/daemon-life.ts";

/** What a kept daemon works with; the caller holds the home's lock. */
export interface KeptDaemonOptions extends Omit<DaemonOptions, "onDamage"> {
  /** Called when the daemon can't go on. Only `stop` is left to do. */
  readonly onFailure: (thrown: unknown) => void;
}

/**
 * Keeps a daemon running over a sound database. Damage that is found at the start is repaired
 * first. When damage shows later, the daemon is stopped, its database rebuilt, and a new daemon
 * started; `stepLife` decides.
 *
 * ```
 * const kept = await KeptDaemon.start({ ...options, onFailure });
 * await kept.daemon.status();
 * await kept.stop();
 * ```
 */
export class KeptDaemon {
  readonly #options: KeptDaemonOptions;
  #life = LIFE_BEGUN;
  #daemon: Daemon | undefined;
  #rebuilding: Promise<void> | undefined;
  readonly #choices: ChoicesKeeper;

  private constructor(options: KeptDaemonOptions) {
    this.#options = options;
    this.#choices = new ChoicesKeeper({ ...options, reader: () => this.reader });
  }

  static async start(options: KeptDaemonOptions): Promise<KeptDaemon> {
    const kept = new KeptDaemon(options);
    await kept.#start();
    return kept;
  }

  /** The daemon that runs. Throws while its database is being rebuilt. */
  get daemon(): Daemon {
    if (this.#daemon) return this.#daemon;
    throw new AppError("internal", "the damaged database is being rebuilt: try again");
  }

  /** Reads the home's database; undefined while no daemon has it open. */
  get reader(): Kysely<DaemonTables> | undefined {
    return this.#daemon?.reader;
  }

  async stop(): Promise<void> {
    this.#step("stop");
    await this.#rebuilding;
    // Whoever closes the database last takes its log into it, which a reader can't do.
    await this.#choices.stop();
    await this.#daemon?.stop();
    const { database } = this.#options.home;
    if (!existsSync(suspicionOf(database))) keepHead(database);
  }

  async #start(): Promise<void> {
    const { onFailure: _, ...given } = this.#options;
    await recoverHome(given.home, given.world, given.log);
    await this.#choices.keep();
    this.#daemon = await Daemon.start({
      ...given,
      onDamage: (thrown) => this.#onDamage(thrown),
      onCommit: () => {
        this.#choices.committed();
        given.onCommit?.();
      },
    });
    this.#step("started");
  }

  #onDamage(thrown: unknown): void {
    const { home, log, onFailure } = this.#options;
    const reason = messageOf(thrown);
    log.error({ reason }, "the database is damaged; it will be rebuilt");
    suspect(home.database, reason);
    const effect = this.#step("damaged");
    if (effect === "end") this.#rebuilding = this.#rebuild();
    if (effect !== "give-up") return;
    const words = "the database was damaged again and again: have a look at the disk";
    onFailure(new Error(`${words} (${reason})`));
  }

  async #rebuild(): Promise<void> {
    const damaged = this.#daemon;
    this.#daemon = undefined;
    try {
      await damaged?.stop();
      if (this.#step("ended") === "start") await this.#start();
    } catch (thrown) {
      if (this.#step("failed") === "give-up") this.#options.onFailure(thrown);
    }
  }

  #step(event: LifeEvent) {
    const { state, effect } = stepLife(this.#life, event);
    this.#life = state;
    return effect;
  }
}
