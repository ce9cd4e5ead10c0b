import type { SyncUnit } from "../budget/sync-units.ts";

/** A unit in use is asked about at most this often. */
const ASK_DISTANCE_MS = 10_000;
/** A quiet unit is asked about after this part of the time for which it has been quiet. */
const PART_OF_QUIET = 0.1;

/** Decides which unit to ask about next where nobody announces changes: units in use more often. */
export class Asking {
  readonly #calledAt = new Map<SyncUnit, number>();
  readonly #activeAt = new Map<SyncUnit, number>();

  /** A call about the unit brings its changes, too. */
  called(unit: SyncUnit, now: number): void {
    this.#calledAt.set(unit, now);
  }

  /** The unit has changed, here or there. */
  active(unit: SyncUnit, now: number): void {
    this.#activeAt.set(unit, now);
  }

  /** The most overdue unit; undefined where none is. */
  next(units: readonly SyncUnit[], now: number): SyncUnit | undefined {
    const overdue = (unit: SyncUnit) => {
      const calledAt = this.#calledAt.get(unit);
      if (calledAt === undefined) return Number.POSITIVE_INFINITY;
      const quietMs = now - (this.#activeAt.get(unit) ?? Number.NEGATIVE_INFINITY);
      // Units that were never in use take turns.
      const intervalMs = Math.min(Math.max(ASK_DISTANCE_MS, quietMs * PART_OF_QUIET), QUIET_MS_MAX);
      return (now - calledAt) / intervalMs;
    };
    return units.toSorted((one, other) => overdue(other) - overdue(one) || 0)[0];
  }
}

/** Even a quiet unit is asked about after this time. */
const QUIET_MS_MAX = 30 * 60_000;
