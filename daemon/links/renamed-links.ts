import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { findRenamedFolder } from "../git/renamed-folder.ts";
import type { Git } from "../git/run-git.ts";
import { findWorkingTree, orUnknown, pathInsideOf } from "../git/working-tree.ts";

/** A linked folder that is gone, and the one that git made of it. */
export interface RenamedLink<Linked> {
  readonly link: Linked;
  readonly to: string;
}

/**
 * The folder that git made of one that is gone, as its history tells; absolute. Undefined where
 * `dir` is there, or nothing tells.
 */
export async function findRenamed(git: Git, dir: string): Promise<string | undefined> {
  if (isThere(dir)) return undefined;
  let above = dirname(dir);
  while (!isThere(above) && above !== dirname(above)) above = dirname(above);
  const search = await findWorkingTree(git, above);
  if (search.kind !== "tree") return undefined;
  const { tree } = search;
  const pathInside = pathInsideOf(tree, dir);
  if (pathInside === undefined || pathInside === "") return undefined;
  const found = await orUnknown(async () => ({
    path: await findRenamedFolder(git, tree, pathInside),
  }));
  if (!("path" in found) || found.path === undefined) return undefined;
  const to = join(tree.root, found.path);
  return isThere(to) ? to : undefined;
}

/**
 * The link whose folder git has renamed to `folder`, or to one above it. None where that folder is
 * linked by now.
 */
export async function findRenamedTo<Linked extends { readonly dir: string }>(
  git: Git,
  links: readonly Linked[],
  folder: string,
): Promise<RenamedLink<Linked> | undefined> {
  for (const link of links) {
    const to = await findRenamed(git, link.dir);
    if (to === undefined || links.some(({ dir }) => dir === to)) continue;
    if (folder === to || folder.startsWith(`${to}/`)) return { link, to };
  }
  return undefined;
}

function isThere(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;
}
