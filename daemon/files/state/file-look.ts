import type { NotKept } from "../../../shared/reasons.ts";
import type { Sight } from "./follow-facts.ts";
import { type Unfollowed, whyUnfollowed } from "./follow-reasons.ts";
import { type FollowStatus, stateOfMaking, statusOf } from "./follow-status.ts";

/** What a look at the file found to do next. */
export interface FileLook {
  readonly status: FollowStatus;
  /** Look again after this time. `later`: less and less often. */
  readonly againMs?: number | "later";
  /** Or after this one, to see what came lately. */
  readonly seenInMs?: number | undefined;
}

/** The end of a look at a file that is not followed now. `graceMs`: what is left of its grace. */
export function unfollowedLook(code: Unfollowed, sight: Sight, graceMs: number): FileLook {
  const { file, tree } = sight;
  const why = whyUnfollowed(code, sight);
  const look = (state: FollowStatus["state"], againMs?: FileLook["againMs"]): FileLook => {
    const status = statusOf(file.path, state, why);
    return againMs === undefined ? { status } : { status, againMs };
  };
  if (code === "wait-service") return look("waiting");
  if (code === "wait-tree" && tree.kind === "making") {
    return look(stateOfMaking(tree.why), tree.againMs);
  }
  if (code === "wait-grace") return look("waiting", graceMs);
  if (code === "leave-unknown") return look("failing", "later");
  return look("left-alone", code === "leave-busy" ? "later" : undefined);
}

/**
 * How a file stands that is followed. `mayWrite`: the user allows writes into it although git
 * tracks it. `notKept`: what the last write could not preserve of it.
 */
export function followedStatus(
  { file, standing }: Sight,
  { mayWrite, notKept }: { readonly mayWrite: boolean; readonly notKept: readonly NotKept[] },
): FollowStatus {
  const state = standing.kind === "tracked" && !mayWrite ? "upwards" : "followed";
  if (file.kind === "absent") return statusOf(file.path, state, { code: "no-file" });
  const why = notKept.length === 0 ? undefined : ({ code: "not-kept", what: notKept } as const);
  return statusOf(file.path, state, why);
}
