import { messageOf, RateLimited } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Timer, World } from "../world.ts";
import { findsRoom, lookAtServer } from "./check-server.ts";
import { DISK_FULL, isUnanswered, NoConnectionLeft, UNANSWERED } from "./failures.ts";
import type { SessionPool } from "./pool.ts";
import type { SchemaParts } from "./schema-parts.ts";

/** A balancer hears of an outage within this time. */
const LOOK_EVERY_MS = 1000;

/** A balancer hears of a silent database within this time. */
const LOOK_WITHIN_MS = 5000;

/** One look in so many compares every part, because rows of others may change what a name means. */
const WHOLE_LOOK_EVERY = 60;

interface WatchDeps<Tables> {
  readonly pool: SessionPool<Tables>;
  /** The connections of writes. */
  readonly writing: SessionPool<Tables>;
  /** See `checkServer`. */
  readonly parts: SchemaParts;
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
  #looks = 0;
  /** See `lookAtServer`. */
  #whole: string | undefined;
  /** How often anything had been answered when the last look ended. */
  #answered = 0;

  constructor(deps: WatchDeps<Tables>) {
    this.#deps = deps;
    this.#schedule();
  }

  /** What is wrong, in a sentence; undefined while nothing is. */
  get problem(): string | undefined {
    return this.#problem ?? (this.#deps.writing.isFull ? DISK_FULL : undefined);
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
    const { pool, world } = this.#deps;
    const before = pool.answered;
    // A database that answers anybody is there, and one that is only too busy can be written.
    const isSilent = () => pool.answered === before;
    const silence = world.setTimer(LOOK_WITHIN_MS, () => {
      if (isSilent()) this.#say(UNANSWERED);
    });
    const problem = await this.#find().catch((thrown: unknown) => {
      const isLeftOut = thrown instanceof NoConnectionLeft && pool.answered === this.#answered;
      const isBusy = thrown instanceof RateLimited || (isUnanswered(thrown) && !isSilent());
      return isBusy && !isLeftOut ? this.#problem : messageOf(thrown);
    });
    silence.cancel();
    this.#answered = pool.answered;
    this.#say(problem);
  }

  /** Finds what is wrong. Without an answer, whether commits are held up stays as it was. */
  async #find(): Promise<string | undefined> {
    const { pool, writing, parts } = this.#deps;
    const whole = this.#looks % WHOLE_LOOK_EVERY === 0 ? undefined : this.#whole;
    this.#looks += 1;
    const found = await lookAtServer(pool, parts, { withinMs: LOOK_WITHIN_MS, whole });
    writing.isHeldUp = found.isHeldUp;
    this.#whole = found.problem === undefined ? found.mark : undefined;
    if (found.problem !== undefined) return found.problem;
    await writing.freePlaces(pool, LOOK_WITHIN_MS);
    return await this.#lookForRoom();
  }

  /** Looks whether a disk that was full has room again; the sentence, as long as it has none. */
  async #lookForRoom(): Promise<string | undefined> {
    const { writing } = this.#deps;
    if (!writing.isFull) return undefined;
    writing.isFull = !(await findsRoom(writing));
    return writing.isFull ? DISK_FULL : undefined;
  }

  #say(problem: string | undefined): void {
    const { log } = this.#deps;
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === undefined) log.info({}, "the database can be written again");
    else log.error({ reason: problem }, "the database can't be written");
  }
}
