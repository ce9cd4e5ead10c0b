import type { Caller } from "../services/services.ts";

/** Requests that an account may make. */
export interface PlanLimits {
  /** In any 60 seconds. */
  readonly minute: number;
  /** From 00:00 UTC to the next. */
  readonly day: number;
}

/** What each plan allows. */
export type PlanTable = Readonly<Record<Caller["plan"], PlanLimits>>;

/** As published. */
export const PLAN_LIMITS: PlanTable = {
  pro: { minute: 60, day: 10_000 },
  team: { minute: 120, day: 50_000 },
};

/** The windows' lengths. */
export const MINUTE_SECONDS = 60;
export const DAY_SECONDS = 24 * 60 * 60;
