/** The oldest git that knows every option which it is asked with. */
export const GIT_NEEDED = "2.31";

const TROUBLES = {
  refused: "git said nothing",
  "no-program": "git is not installed",
  "too-old": `git is older than ${GIT_NEEDED}`,
  "too-slow": "git took too long and was stopped",
  "too-much": "git printed too much and was stopped",
  killed: "git was killed",
  "odd-head": "the repository's HEAD is not understood",
  "line-break": "the repository's path has a line break in it",
  elsewhere: "git has this folder's working tree elsewhere",
  "left-behind": "the worktree's repository was moved",
  "no-answer": "git gave no answer",
} as const;

/** Why git could not tell something. */
export interface GitTroubleFacts {
  readonly trouble: keyof typeof TROUBLES;
  /** What git or the system said, in its words. */
  readonly said?: string;
}

/** Why git could not tell something, in a sentence. */
export function sayTrouble({ trouble, said }: GitTroubleFacts): string {
  return said ?? TROUBLES[trouble];
}

/** What is said of a file of which git could not say enough, in the registry of `reasons.ts`. */
export const GIT_REASONS = {
  "git-failed": {
    meaning: "git could not say what it has of the file",
    say: (facts: GitTroubleFacts) => `git could not say what it has of it (${sayTrouble(facts)})`,
  },
  "head-moved": {
    meaning: "git changed the branch or the commit while the file was looked at",
    say: () => "git moved HEAD while it was looked at",
  },
  "not-checked-out": {
    meaning: "the file is missing because of a sparse checkout, which deletes nothing elsewhere",
    say: () => "is not checked out here",
  },
  "leave-unknown": {
    meaning: "git could not say whether it tracks the file",
    say: (facts: GitTroubleFacts) => {
      const isLeft = facts.trouble === "left-behind";
      const mend = isLeft ? ": `git worktree repair` in the repository mends it" : "";
      return `git could not say whether it is tracked (${sayTrouble(facts)})${mend}`;
    },
  },
} as const;
