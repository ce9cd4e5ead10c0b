import type { FollowDecision } from "./decide-following.ts";
import type { FileStanding } from "./git-state.ts";

/** Why a file is not followed now. */
export type Unfollowed = Extract<
  FollowDecision,
  | "leave-unknown"
  | "leave-busy"
  | "leave-branch"
  | "gone"
  | "emptied-by-git"
  | "missing"
  | "wait-service"
  | "wait-grace"
>;

const WAYS_ON =
  "`memsync doc write` gets it back, `memsync doc clear` deletes the text on every machine";

/** Says why, in words that follow the file's path. */
export function unfollowedNote(why: Unfollowed, standing: FileStanding): string {
  switch (why) {
    case "leave-unknown":
      return `git could not say whether it is tracked (${unknownReason(standing)})`;
    case "leave-busy":
      return busyNote(standing);
    case "leave-branch":
      return branchNote(standing);
    case "gone":
      return `is gone, which deletes nothing elsewhere: ${WAYS_ON}`;
    case "emptied-by-git":
      return `is empty since git moved, which deletes nothing elsewhere: ${WAYS_ON}`;
    case "missing":
      return "is missing; `memsync link --write` lets it be created";
    case "wait-service":
      return "waits for the service's first answer";
    case "wait-grace":
      return "is empty or gone; waits a moment";
  }
}

/** What else could be followed, and how. */
export function otherFileNote(path: string): string {
  return `${path} is there and is not followed: \`memsync unlink\` and \`memsync link\` follow it`;
}

function unknownReason(standing: FileStanding): string {
  return standing.kind === "unknown" ? standing.reason : "it gave no answer";
}

function busyNote(standing: FileStanding): string {
  const operation = standing.kind === "busy" ? standing.operation : "locked";
  if (operation === "locked") return "is left alone while git is at work";
  if (operation === "unmerged") return "is left alone until its merge conflict is resolved";
  return `is left alone during the ${operation}`;
}

function branchNote(standing: FileStanding): string {
  if (standing.kind !== "tracked") return "is left alone on another branch";
  const here = standing.branch ?? "a detached HEAD";
  const { defaultBranch } = standing;
  if (defaultBranch === undefined) return `is left alone on ${here}: no default branch is known`;
  return `is left alone on ${here}: it is followed on ${defaultBranch}`;
}
