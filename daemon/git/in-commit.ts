import type { Git } from "./run-git.ts";
import { findTreeEntry } from "./tracked-entries.ts";
import type { PlacedFile } from "./working-tree.ts";

/** At most this many answers of one git are remembered, the latest ones. */
const ANSWERS_MAX = 500;

const answersOf = new WeakMap<Git, Map<string, boolean>>();

/**
 * Whether a file is in the tree of `commit`, which is given by its whole name. What a commit itself
 * holds never changes, so it is asked once: one git process then, and none later. Only with
 * replacements (git-replace(1)), which come and go, it is asked each time. Throws `GitTrouble`.
 */
export async function isInCommit(
  git: Git,
  file: PlacedFile,
  { commit, isReplacing }: { readonly commit: string; readonly isReplacing: boolean },
): Promise<boolean> {
  if (isReplacing) return (await findTreeEntry(git, file, commit)) !== undefined;
  const answers = answersOf.get(git) ?? new Map<string, boolean>();
  answersOf.set(git, answers);
  const asked = `${commit} ${file.pathInside}`;
  const known = answers.get(asked);
  if (known !== undefined) return known;
  // A replacement that comes meanwhile must not be remembered as what the commit holds.
  const unreplaced: Git = (folder, args) => git(folder, ["--no-replace-objects", ...args]);
  const isThere = (await findTreeEntry(unreplaced, file, commit)) !== undefined;
  answers.set(asked, isThere);
  const [oldest] = answers.keys();
  if (answers.size > ANSWERS_MAX && oldest !== undefined) answers.delete(oldest);
  return isThere;
}
