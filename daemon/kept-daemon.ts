import { existsSync } from "node:fs";
import { AppError, messageOf } from "../shared/errors.ts";
import { Daemon, type DaemonOptions } from "./daemon.ts";
import { suspect, suspicionOf } from "./recovery/find-damage.ts";
import { keepHead } from "./recovery/head-page.ts";
import { recoverHome } from "./recovery/recover-home.ts";

/** After this many rebuilds the disk is taken for broken, and no more copies are written to it. */
const REBUILDS_MAX = 3;

/** What a kept daemon works with; the caller holds the home's lock. */
export interface KeptDaemonOptions extends Omit<DaemonOptions, "onDamage"> {
  /** Called when the daemon can't go on. Nothing of it runs any more. */
  readonly onFailure: (thrown: unknown) => void;
}

/**
 * Keeps a daemon running over a sound database. Damage that is found at the start is repaired
 * first. When damage shows later, the daemon is stopped, its database rebuilt, and a new daemon
 * started.
 */
export class KeptDaemon {
  readonly #options: KeptDaemonOptions;
  #daemon: Daemon | undefined;
  #rebuilding: Promise<void> | undefined;
  #rebuilds = 0;
  #stopped = false;

  private constructor(options: KeptDaemonOptions) {
    this.#options = options;
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

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#rebuilding;
    await this.#daemon?.stop();
    const { database } = this.#options.home;
    if (!existsSync(suspicionOf(database))) keepHead(database);
  }

  async #start(): Promise<void> {
    const { onFailure: _, ...given } = this.#options;
    await recoverHome(given.home, given.world, given.log);
    this.#daemon = await Daemon.start({ ...given, onDamage: (thrown) => this.#onDamage(thrown) });
  }

  #onDamage(thrown: unknown): void {
    const { home, log, onFailure } = this.#options;
    const reason = messageOf(thrown);
    log.error({ reason }, "the database is damaged; it will be rebuilt");
    suspect(home.database, reason);
    // A daemon that is just starting fails by itself, and its next start rebuilds.
    if (!this.#daemon || this.#stopped || this.#rebuilding) return;
    if (this.#rebuilds++ >= REBUILDS_MAX) {
      const words = "the database was damaged again and again: have a look at the disk";
      onFailure(new Error(`${words} (${reason})`));
      return;
    }
    this.#rebuilding = this.#rebuild()
      .catch(onFailure)
      .finally(() => {
        this.#rebuilding = undefined;
      });
  }

  async #rebuild(): Promise<void> {
    const damaged = this.#daemon;
    this.#daemon = undefined;
    await damaged?.stop();
    if (!this.#stopped) await this.#start();
  }
}
