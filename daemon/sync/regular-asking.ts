import type { Timer, World } from "../../shared/world.ts";
import type { RequestBudget } from "../budget/request-budget.ts";
import type { SyncUnit } from "../budget/sync-units.ts";
import { Asking } from "./asking.ts";

/** Without the live socket, a unit is asked about at most this often, as the budget allows. */
const ASK_INTERVAL_MS = 10_000;
/** No timer is set for longer. */
const TIMER_MS_MAX = 60 * 60_000;

/** What asking goes by, and who is told. */
export interface RegularAskingOptions {
  readonly world: World;
  readonly budget?: RequestBudget | undefined;
  /** Units whose changes nobody announces. */
  readonly unannounced: () => readonly SyncUnit[];
  /** The unit is to be asked about now. */
  readonly onAsk: (unit: SyncUnit) => void;
}

/** Has units asked about whose changes nobody announces, one at a time; see `Asking`. */
export class RegularAsking {
  readonly #options: RegularAskingOptions;
  readonly #asking = new Asking();
  #timer: Timer | undefined;

  constructor(options: RegularAskingOptions) {
    this.#options = options;
  }

  start(): void {
    const { world } = this.#options;
    const waitMs = this.#mayAskAt() - world.monotonic();
    const delayMs = Math.min(Math.max(ASK_INTERVAL_MS, waitMs), TIMER_MS_MAX);
    this.#timer = world.setTimer(delayMs, () => {
      this.#ask();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** A call about the unit brings its changes, too. */
  called(unit: SyncUnit): void {
    this.#asking.called(unit, this.#options.world.monotonic());
  }

  /** The unit has changed, here or there. */
  active(unit: SyncUnit): void {
    this.#asking.active(unit, this.#options.world.monotonic());
  }

  #ask(): void {
    const { world, unannounced, onAsk } = this.#options;
    const now = world.monotonic();
    const unit = this.#asking.next(unannounced(), now);
    if (unit !== undefined && this.#mayAskAt() <= now) onAsk(unit);
  }

  #mayAskAt(): number {
    return this.#options.budget?.notBefore("ask") ?? 0;
  }
}
