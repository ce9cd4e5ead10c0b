import type { FileStanding } from "./git-state.ts";

/**
 * What may be done with a followed file. `both`: its changes are taken, others' are written into
 * it, and it may be made anew if `mayCreate`. `upwards`: its changes are taken. `leave`: neither,
 * for the reason given; `again` when that may pass without HEAD being changed.
 */
export type FollowPlan =
  | { readonly kind: "both"; readonly mayCreate: boolean }
  | { readonly kind: "upwards" }
  | { readonly kind: "leave"; readonly note: string; readonly again: boolean };

/** What is known besides git's word. */
export interface FollowFacts {
  readonly exists: boolean;
  /** It had text here before, so that its absence is a deletion. */
  readonly hadText: boolean;
  /** The user agreed that memsync writes what git does not ignore. */
  readonly write: boolean;
}

export function planFollowing(standing: FileStanding, facts: FollowFacts): FollowPlan {
  switch (standing.kind) {
    case "unknown":
      return leave(`git could not say whether it is tracked (${standing.reason})`, true);
    case "busy":
      return leave(busyNote(standing.operation), true);
    case "tracked":
      if (!standing.onDefaultBranch) return leave(branchNote(standing), false);
      return facts.write ? { kind: "both", mayCreate: true } : { kind: "upwards" };
    case "untracked":
      return untracked(facts, facts.write || standing.ignored);
    case "no-git":
      return untracked(facts, facts.write);
  }
}

function untracked({ exists, hadText }: FollowFacts, mayCreate: boolean): FollowPlan {
  if (exists || hadText || mayCreate) return { kind: "both", mayCreate };
  return leave("is missing; `memsync link --write` lets it be created", false);
}

function leave(note: string, again: boolean): FollowPlan {
  return { kind: "leave", note, again };
}

function busyNote(operation: string): string {
  if (operation === "locked") return "is left alone while git is at work";
  if (operation === "unmerged") return "is left alone until its merge conflict is resolved";
  return `is left alone during the ${operation}`;
}

function branchNote(standing: Extract<FileStanding, { kind: "tracked" }>): string {
  const here = standing.branch ?? "a detached HEAD";
  const { defaultBranch } = standing;
  if (defaultBranch === undefined) return `is left alone on ${here}: no default branch is known`;
  return `is left alone on ${here}: it is followed on ${defaultBranch}`;
}
