import type { ProjectDeletion } from "../../shared/replica/document/deletion-entry.ts";
import type { FollowDecision } from "./decide-following.ts";
import type { Sight } from "./follow-facts.ts";
import type { FileStanding } from "../git/git-state.ts";
import type { WhyMaking } from "./tree-guard.ts";

/** Decisions by which a file is followed. */
export type Following = Extract<
  FollowDecision,
  "follow" | "meet" | "renew" | "edit" | "version" | "create" | "absent"
>;

/**
 * Why a file is not followed now; `leave-aside`: git keeps lines of it that are to come back;
 * `unsent`: it went before its text was taken, which is in this machine's history alone.
 */
export type Unfollowed = Exclude<FollowDecision, Following> | "leave-aside" | "unsent";

/** What a file stood beside that is not followed. */
export type UnfollowedSight = Pick<Sight, "standing" | "tree">;

const MAKING_NOTES: Readonly<Record<WhyMaking, string>> = {
  locked: "is not made while git is at work",
  "at-work": "is not made while git is at work",
  changed: "is made once git has been quiet for a moment",
  "not-checked-out": "is not made before git has checked something out here",
  "no-commit": "is not made before there is a commit here: one may be on its way from a remote",
  unknown: "is not made, for git could not say what it does",
};

/** Says that a file's project was deleted, in words that follow the file's path. */
export function deletedNote({ machine }: ProjectDeletion): string {
  const by = machine === undefined ? "" : ` on ${machine}`;
  return (
    `stays as it is: its project was deleted${by}; \`memsync link --anew\` begins it anew, ` +
    "`memsync unlink` forgets it"
  );
}

const WAYS_ON =
  "`memsync doc write` gets it back, `memsync doc clear` deletes the text on every machine";

/** Says why, in words that follow the file's path. */
export function unfollowedNote(why: Unfollowed, { standing, tree }: UnfollowedSight): string {
  switch (why) {
    case "leave-unknown":
      return `git could not say whether it is tracked (${unknownReason(standing)})`;
    case "leave-busy":
      return busyNote(standing);
    case "leave-lost":
      return "is left alone, for its .git is gone: `memsync link` follows it without git";
    case "leave-branch":
      return branchNote(standing);
    case "gone":
      return `is gone, which deletes nothing elsewhere: ${WAYS_ON}`;
    case "emptied-by-git":
      return `is empty since git moved or it was gone, which deletes nothing elsewhere: ${WAYS_ON}`;
    case "missing":
      return "is missing: `memsync doc write` gets it, where the document has any text";
    case "unsent":
      return (
        "went before its text was sent: `memsync doc history` has it, " +
        "`memsync doc restore REV` sends it"
      );
    case "wait-service":
      return "waits for the service's first answer";
    case "leave-aside":
      return (
        "is not written while git keeps lines of it in a stash or on a branch: bring them back, " +
        "or `memsync conflicts` settles it"
      );
    case "wait-grace":
      return "is empty or gone; waits a moment";
    case "wait-tree":
      return tree.kind === "making" ? MAKING_NOTES[tree.why] : MAKING_NOTES.changed;
  }
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
