/**
 * Why git refused, as a code: its exit status is 128 for nearly everything. `no-repository`: the
 * folder is in none. `no-work-tree`: it is in a repository, where no files are checked out, as
 * inside of a `.git`. `left-behind`: it is a worktree whose repository is not where it was.
 * `no-such-remote`: the remote that was asked for is not configured. `unknown-option`: this git is
 * older than what it was asked. `other`: it says so in words for a person.
 */
export type GitRefusal =
  | "no-repository"
  | "no-work-tree"
  | "left-behind"
  | "no-such-remote"
  | "unknown-option"
  | "other";

/** What git says, in the language of `LC_ALL=C`, in every version since 2.30. */
const SAID: readonly (readonly [GitRefusal, RegExp])[] = [
  ["unknown-option", /^(fatal: unrecognized argument|error: unknown (option|switch)|usage: git)/m],
  // With a path in place of "(or any": what a worktree's or a submodule's `.git` names is gone.
  ["no-repository", /not a git repository \(or any/],
  ["no-work-tree", /must be run in a work tree/],
  ["left-behind", /not a git repository: .*\/worktrees\//],
  ["no-such-remote", /No such remote/],
];

/** The code of what git printed on standard error before it ended with a status other than 0. */
export function gitRefusalIn(message: string): GitRefusal {
  return SAID.find(([, said]) => said.test(message))?.[0] ?? "other";
}
