import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** git's exit code where the index has no such text. */
const FATAL = 128;

/** What the index has of a file until git's conflict is settled. */
export interface UnmergedTexts {
  /** The text that both versions were made of; undefined where they have none. */
  readonly base: string | undefined;
  /** The versions; none once one text was staged. */
  readonly sides: readonly string[];
}

/** Three git processes. Throws `GitTrouble`. */
export async function readUnmergedTexts(
  git: Git,
  { tree, pathInside }: PlacedFile,
): Promise<UnmergedTexts> {
  const texts = [1, 2, 3].map(async (stage) => {
    const args = ["cat-file", "blob", `:${stage}:${pathInside}`];
    const printed = await gitOutput(git, tree.root, { args, absent: [FATAL] });
    return printed === undefined ? undefined : String(printed);
  });
  const [base, ...sides] = await Promise.all(texts);
  return { base, sides: sides.filter((text) => text !== undefined) };
}
