import { messageOf, RateLimited } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Timer, World } from "../world.ts";
import { findsRoom, lookAtServer } from "./check-server.ts";
import { DISK_FULL, isUnanswered, NoConnectionLeft, UNANSWERED } from "./failures.ts";
import type { SessionPool } from "./pool.ts";
import type { SchemaParts } from "./schema-parts.ts";

/** A balancer hears of an outage within this time. */
const LOOK_EVERY_MS = 1000;

/** And of a database that is silent within this one. */
const LOOK_WITHIN_MS = 5000;

/** One look in so many compares every part: what a name means may change by others' rows. */
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
  /** How often anybody had been answered when the last look was over. */
  #answered = 0;

  constructor(deps: WatchDeps<Tables>) {
    this.#deps = deps;
    this.#schedule();
  }

  /** A sentence; undefined while there is none. */
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
    // Who answers anybody is there, and who has too much to do can be written.
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

  /** Whether commits are held up stays as it was where nobody answers. */
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

  /** After a write that has found none; what is said as long as there is none. */
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
