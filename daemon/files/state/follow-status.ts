import { explain, type Reason } from "../../../shared/reasons.ts";
import type { NotNowCode, TrackedRead } from "../../git/read-tracked-text.ts";
import type { WhyMaking } from "../names/tree-guard.ts";

type NotNow = Extract<TrackedRead, { readonly kind: "not-now" }>;

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

// A reason that may last for ever leaves the file alone; a short one makes it wait.

/** The state of a missing file that may not be made yet. */
export function stateOfMaking(making: WhyMaking): FollowStatus["state"] {
  if (making === "unknown") return "failing";
  // A git process ends, and then git is quiet. A lock may be left of one that died.
  return making === "at-work" || making === "changed" ? "waiting" : "left-alone";
}

const NOT_READ: ReadonlySet<NotNowCode> = new Set([
  "not-a-file",
  "too-large",
  "unreadable",
  "git-failed",
]);

/** The status of a tracked file whose text can't be taken now. */
export function statusOfNotNow(path: string, { why }: NotNow): FollowStatus {
  if (NOT_READ.has(why.code)) return statusOf(path, "failing", why);
  // Where git stays busy, the next look leaves the file alone before it comes to this.
  return statusOf(path, why.code === "not-checked-out" ? "left-alone" : "waiting", why);
}

/** That the file which counts is known, or a link's target fit to be shared: no event tells it. */
const UNTOLD_ENDS: ReadonlySet<string> = new Set([
  "also-waits",
  "link-to-program",
  "link-to-ignored",
]);

/** Whether the reason may end without an event. */
export function isEndUntold({ code }: Reason): boolean {
  return UNTOLD_ENDS.has(code);
}
