import type { Timer, World } from "../../../shared/world.ts";

/** What waits for a time. */
interface Pending {
  /** By the steady clock. */
  readonly dueMs: number;
  readonly callback: () => void;
  /** Of the real world; undefined while the clock stands still. */
  armed?: Timer | undefined;
}

/** A moment by both clocks, in milliseconds. */
interface Reading {
  readonly wall: number;
  readonly steady: number;
}

/**
 * How many due timers run at their own times in one move. In a longer leap the rest run at its end,
 * each once: a leap of years has too many hourly sweeps.
 */
const STEPS_MAX = 200;

/** After so many turns of the event loop, work that a step began is over, or goes on by itself. */
const SETTLING_TURNS_MAX = 10_000;

/** This many turns without a deferred call in them: nothing goes on any more. */
const QUIET_TURNS = 3;

/**
 * A clock that is frozen, set and advanced, and the timers that follow it. It runs like `base`
 * until it is told otherwise.
 *
 * ```
 * await clock.advance(60_000); // a minute later: the windows of the limits have moved
 * ```
 */
export class DrivenClock {
  readonly #base: World;
  readonly #pending = new Set<Pending>();
  /** Added to the clocks of `base` while it runs. */
  #ahead: Reading = { wall: 0, steady: 0 };
  /** What it shows while it stands still. */
  #still: Reading | undefined;
  /** How far it is moved, while it stands still. */
  #moved = 0;
  #deferred = 0;
  #moves: Promise<unknown> = Promise.resolve();
  #beforeMove: () => Promise<unknown> = async () => {};
  #movesLeft = 0;

  /** It stands still at `stillAt`, if that is given. */
  constructor(base: World, stillAt?: number) {
    this.#base = base;
    if (stillAt !== undefined) this.#still = { wall: stillAt, steady: base.monotonic() };
  }

  get frozen(): boolean {
    return this.#still !== undefined;
  }

  /**
   * How far the wall clock is ahead of the real one. While the clock stands still, only moves
   * change this; a clock that was stopped at a given time begins at 0. So the same moves give the
   * same value.
   */
  get offsetMs(): number {
    return this.frozen ? this.#moved : this.#ahead.wall;
  }

  /** Whether it ever shows anything but the real time. */
  get isDriven(): boolean {
    return this.frozen || this.#ahead.wall !== 0;
  }

  /**
   * Resolves when the moves are over that were asked for so far; undefined if there are none. Work
   * that is no part of a move waits for this before it begins, because a move lasts until nothing
   * goes on any more.
   */
  get arrival(): Promise<unknown> | undefined {
    return this.#movesLeft === 0 ? undefined : this.#moves;
  }

  /** Each move begins when this has resolved, while `arrival` is there. */
  beginMovesAfter(work: () => Promise<unknown>): void {
    this.#beforeMove = work;
  }

  readonly now = (): number => this.#still?.wall ?? this.#base.now() + this.#ahead.wall;

  readonly monotonic = (): number =>
    this.#still?.steady ?? this.#base.monotonic() + this.#ahead.steady;

  readonly setTimer = (delayMs: number, callback: () => void): Timer => {
    const pending: Pending = { dueMs: this.monotonic() + delayMs, callback };
    this.#pending.add(pending);
    if (!this.frozen) this.#arm(pending);
    return {
      cancel: () => {
        this.#pending.delete(pending);
        pending.armed?.cancel();
      },
    };
  };

  readonly defer = (callback: () => void): void => {
    this.#deferred += 1;
    this.#base.defer(() => {
      this.#deferred -= 1;
      callback();
    });
  };

  /** From now on it stands still, or from the end of the moves that are asked for by now. */
  freeze(): Promise<number[]> {
    return this.#afterMoves(() => this.#stop());
  }

  /** It stands still at a time. */
  freezeAt(wall: number): Promise<number[]> {
    void this.freeze();
    return this.#move(async () => {
      const times = await this.#goTo(wall);
      this.#moved = 0;
      return times;
    });
  }

  /** It runs again, from the time that it shows, after the moves that are asked for by now. */
  resume(): Promise<number[]> {
    return this.#afterMoves(() => {
      if (!this.#still) return;
      const { wall, steady } = this.#still;
      this.#run({ wall: wall - this.#base.now(), steady: steady - this.#base.monotonic() });
    });
  }

  /**
   * Goes forward by so many milliseconds. What falls due meanwhile runs, in order, each at its
   * time; resolves when it has, with those times. Moves wait for each other.
   */
  advance(milliseconds: number): Promise<number[]> {
    return this.#move(async () => await this.#leap(milliseconds));
  }

  /** Goes to a time: forward as `advance`, back without a step of the steady clock. */
  set(wall: number): Promise<number[]> {
    return this.#move(() => this.#goTo(wall));
  }

  #move(work: () => Promise<number[]>): Promise<number[]> {
    return this.#inTurn(async () => {
      await this.#beforeMove();
      const from = this.frozen ? undefined : this.#ahead;
      const { wall, steady } = this.#stop();
      try {
        return await work();
      } finally {
        // The time that the move itself took counts, too.
        const by = { wall: this.now() - wall, steady: this.monotonic() - steady };
        if (from) this.#run({ wall: from.wall + by.wall, steady: from.steady + by.steady });
      }
    });
  }

  /** What takes no time is done at once where there are no moves. */
  async #afterMoves(work: () => void): Promise<number[]> {
    if (this.#movesLeft === 0) work();
    else await this.#inTurn(async () => work());
    return [];
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#movesLeft += 1;
    const done = this.#moves.then(work).finally(() => {
      this.#movesLeft -= 1;
    });
    this.#moves = done.catch(() => {});
    return done;
  }

  #stop(): Reading {
    if (this.#still) return this.#still;
    this.#still = { wall: this.now(), steady: this.monotonic() };
    this.#moved = this.#ahead.wall;
    for (const pending of this.#pending) pending.armed?.cancel();
    return this.#still;
  }

  #run(ahead: Reading): void {
    this.#ahead = ahead;
    this.#still = undefined;
    for (const pending of this.#pending) this.#arm(pending);
  }

  #show(reading: Reading): void {
    this.#moved += reading.wall - this.now();
    this.#still = reading;
  }

  async #goTo(wall: number): Promise<number[]> {
    const by = wall - this.now();
    if (by >= 0) return await this.#leap(by);
    this.#show({ wall, steady: this.monotonic() });
    return [];
  }

  async #leap(by: number): Promise<number[]> {
    const end: Reading = { wall: this.now() + by, steady: this.monotonic() + by };
    const times: number[] = [];
    for (let next = this.#dueBy(end)[0]; next; next = this.#dueBy(end)[0]) {
      if (times.length >= STEPS_MAX) break;
      const left = end.steady - Math.max(next.dueMs, this.monotonic());
      await this.#step({ wall: end.wall - left, steady: end.steady - left }, next, times);
    }
    for (const late of this.#dueBy(end)) await this.#step(end, late, times);
    this.#show(end);
    await this.#settled();
    return times;
  }

  async #step(at: Reading, pending: Pending, times: number[]): Promise<void> {
    // What ran before it may have taken it back.
    if (!this.#pending.has(pending)) return;
    this.#show(at);
    times.push(at.wall);
    this.#fire(pending);
    await this.#settled();
  }

  /** What is due by then, the earliest first. */
  #dueBy({ steady }: Reading): Pending[] {
    const due = [...this.#pending].filter(({ dueMs }) => dueMs <= steady);
    return due.sort((one, other) => one.dueMs - other.dueMs);
  }

  #fire(pending: Pending): void {
    if (this.#pending.delete(pending)) pending.callback();
  }

  #arm(pending: Pending): void {
    pending.armed = this.#base.setTimer(Math.max(0, pending.dueMs - this.monotonic()), () =>
      this.#fire(pending),
    );
  }

  /** SQLite's calls wait for nothing: what was begun goes on in turns of the event loop alone. */
  async #settled(): Promise<void> {
    let quiet = 0;
    for (let turn = 0; turn < SETTLING_TURNS_MAX && quiet < QUIET_TURNS; turn++) {
      await new Promise<void>((resolve) => this.#base.defer(resolve));
      quiet = this.#deferred === 0 ? quiet + 1 : 0;
    }
  }
}
