import { join } from "node:path";
import { type FolderPlace, isSamePlace, readPlace } from "../files/names/folder-place.ts";
import { type Git, gitOutput } from "../git/run-git.ts";
import { findWorkingTree, orUnknown, pathInsideOf } from "../git/working-tree.ts";

const LISTED = /^worktree (.+)$/gm;

/**
 * Finds a folder that was moved anywhere, where another working tree of its repository has its path
 * now: git itself names all of them. Undefined where none of them is it.
 */
export async function findMovedTree(
  git: Git,
  dir: string,
  place: FolderPlace,
): Promise<string | undefined> {
  // Without a time of birth an inode may be another folder's by now.
  if (place.bornAt === "") return undefined;
  const search = await findWorkingTree(git, dir);
  const inside = search.kind === "tree" ? pathInsideOf(search.tree, dir) : undefined;
  if (inside === undefined) return undefined;
  const args = ["worktree", "list", "--porcelain"];
  const listed = await orUnknown(async () => ({ printed: await gitOutput(git, dir, { args }) }));
  if (!("printed" in listed)) return undefined;
  for (const [, root = ""] of String(listed.printed).matchAll(LISTED)) {
    const path = join(root, inside);
    const found = path === dir ? undefined : await readPlace(path);
    if (found?.kind === "folder" && isSamePlace(found.place, place)) return path;
  }
  return undefined;
}
