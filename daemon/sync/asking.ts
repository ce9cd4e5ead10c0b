import type { SyncUnit } from "../budget/sync-units.ts";

/** A unit that is in use is asked about no more often than this. */
const ASK_DISTANCE_MS = 10_000;
/** A quiet unit is asked about after this part of the time that it has been quiet. */
const PART_OF_QUIET = 0.1;

/** Which unit to ask about next, where nobody announces changes: those in use more often. */
export class Asking {
  readonly #calledAt = new Map<SyncUnit, number>();
  readonly #activeAt = new Map<SyncUnit, number>();

  /** A call about it brings what is new. */
  called(unit: SyncUnit, now: number): void {
    this.#calledAt.set(unit, now);
  }

  /** It has changed, here or there. */
  active(unit: SyncUnit, now: number): void {
    this.#activeAt.set(unit, now);
  }

  /** The one that is most overdue; undefined when there is none. */
  next(units: readonly SyncUnit[], now: number): SyncUnit | undefined {
    const overdue = (unit: SyncUnit) => {
      const calledAt = this.#calledAt.get(unit);
      if (calledAt === undefined) return Number.POSITIVE_INFINITY;
      const quietMs = now - (this.#activeAt.get(unit) ?? Number.NEGATIVE_INFINITY);
      // Those that were never in use take turns among each other.
      const intervalMs = Math.min(Math.max(ASK_DISTANCE_MS, quietMs * PART_OF_QUIET), QUIET_MS_MAX);
      return (now - calledAt) / intervalMs;
    };
    return units.toSorted((one, other) => overdue(other) - overdue(one) || 0)[0];
  }
}

/** However quiet, it is asked about as if it were overdue after that. */
const QUIET_MS_MAX = 30 * 60_000;
