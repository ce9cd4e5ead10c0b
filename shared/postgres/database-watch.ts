import { messageOf, RateLimited } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Timer, World } from "../world.ts";
import { refuseUnfit } from "./check-server.ts";
import type { SessionPool } from "./pool.ts";

/** A balancer hears of an outage within this time. */
const LOOK_EVERY_MS = 1000;

interface WatchDeps<Tables> {
  readonly pool: SessionPool<Tables>;
  readonly world: World;
  readonly log: Log;
}

/** Looks every second whether a database can be written, and says in the log what is wrong. */
export class DatabaseWatch<Tables> {
  readonly #deps: WatchDeps<Tables>;
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;
  #problem: string | undefined;

  constructor(deps: WatchDeps<Tables>) {
    this.#deps = deps;
    this.#schedule();
  }

  /** A sentence; undefined while there is none. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#looking;
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = this.#deps.world.setTimer(LOOK_EVERY_MS, () => {
      this.#looking = this.#look().finally(() => this.#schedule());
    });
  }

  async #look(): Promise<void> {
    const { pool, log } = this.#deps;
    const problem = await refuseUnfit(pool).then(
      () => undefined,
      // Who has too much to do can be written.
      (thrown) => (thrown instanceof RateLimited ? this.#problem : messageOf(thrown)),
    );
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === undefined) log.info({}, "the database can be written again");
    else log.error({ reason: problem }, "the database can't be written");
  }
}
