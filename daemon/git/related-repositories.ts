import { type Git, gitOutput } from "./run-git.ts";
import { orUnknown, type WorkingTree } from "./working-tree.ts";

/**
 * Whether the oldest commit of a working tree's line of first parents is in another repository, as
 * it is in the one that this is a clone of. In a shallow clone it is where the history was cut off.
 * Undefined where that can't be known. Two git processes.
 */
export async function hasCommitInCommon(
  git: Git,
  tree: WorkingTree,
  other: WorkingTree,
): Promise<boolean | undefined> {
  const args = ["--no-replace-objects", "rev-list", "--first-parent", "--max-parents=0", "HEAD"];
  const oldest = await orUnknown(async () => String(await gitOutput(git, tree.root, { args })));
  const commit = typeof oldest === "string" ? oldest.split("\n")[0] : undefined;
  if (!commit) return undefined;
  const result = await git(other.root, ["cat-file", "-e", commit]);
  if (result.kind === "done") return true;
  const isWhole = !tree.shallow && !other.shallow;
  // git says nothing else of an object that is missing; all other refusals have other exit codes.
  return result.kind === "refused" && result.exitCode === 1 && isWhole ? false : undefined;
}
