import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** git's exit code where the index has no such text. */
const FATAL = 128;

/**
 * The text that both versions of a file were made of, as the index has it until git's conflict is
 * settled; undefined where it has none. One git process. Throws `GitTrouble`.
 */
export async function readMergeBase(
  git: Git,
  { tree, pathInside }: PlacedFile,
): Promise<string | undefined> {
  const args = ["cat-file", "blob", `:1:${pathInside}`];
  const printed = await gitOutput(git, tree.root, { args, absent: [FATAL] });
  return printed === undefined ? undefined : String(printed);
}
