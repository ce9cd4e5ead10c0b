import { explain, type Reason } from "../../shared/reasons.ts";
import type { WhyMaking } from "./tree-guard.ts";

/** What `status` shows of a followed file. */
export interface FollowStatus {
  readonly path: string;
  /**
   * `failing`: the file or the database can't be read, so nobody knows whether the text is synced.
   */
  readonly state: "followed" | "upwards" | "waiting" | "held" | "left-alone" | "failing";
  /** Why the file is in this state; undefined where nothing has to be said. */
  readonly why: Reason | undefined;
  /** The same in words that follow the file's path. */
  readonly note: string | undefined;
}

/** A status with the sentence of its reason. */
export function statusOf(
  path: string,
  state: FollowStatus["state"],
  why: Reason | undefined,
): FollowStatus {
  return { path, state, why, note: why && explain(why) };
}

/** The status of a file into which somebody may be writing. */
export function beingWritten(path: string): FollowStatus {
  return statusOf(path, "waiting", { code: "being-written" });
}

/** A reason that may last for ever leaves the file alone; a short one makes it wait. */
export function stateOfMaking(making: WhyMaking): FollowStatus["state"] {
  return making === "no-commit" || making === "not-checked-out" ? "left-alone" : "waiting";
}
