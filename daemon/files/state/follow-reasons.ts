import type { Reason } from "../../../shared/reasons.ts";
import type { FileStanding } from "../../git/git-state.ts";
import type { FollowDecision } from "./decide-following.ts";
import type { Sight } from "./follow-facts.ts";

/** Decisions that follow the file. */
export type Following = Extract<
  FollowDecision,
  "follow" | "meet" | "renew" | "edit" | "version" | "create" | "absent"
>;

/**
 * Why a file is not followed now. `leave-aside`: what becomes of lines that git set aside is open.
 * `unsent`: it disappeared before its text was taken, so that only this machine's history has it.
 */
export type Unfollowed = Exclude<FollowDecision, Following> | "leave-aside" | "unsent";

/** The facts that a decision not to follow rests on. */
export type UnfollowedSight = Pick<Sight, "standing" | "tree">;

/** A decision not to follow, as a reason to show. */
export function whyUnfollowed(code: Unfollowed, { standing, tree }: UnfollowedSight): Reason {
  switch (code) {
    case "leave-unknown":
      return { code, ...(standing.kind === "unknown" ? standing.why : NO_ANSWER) };
    case "leave-busy":
      return { code, operation: standing.kind === "busy" ? standing.operation : "locked" };
    case "leave-branch":
      return { code, ...branchOf(standing) };
    case "wait-tree":
      return { code, making: tree.kind === "making" ? tree.why : "changed" };
    default:
      return { code };
  }
}

const NO_ANSWER = { trouble: "no-answer" } as const;

function branchOf(standing: FileStanding) {
  if (standing.kind !== "tracked") return { isDetached: false };
  const { branch, defaultBranch: followed } = standing;
  const isDetached = branch === undefined;
  return { isDetached, ...(branch && { branch }), ...(followed && { followed }) };
}
