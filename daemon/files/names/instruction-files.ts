import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Reason } from "../../../shared/reasons.ts";
import { type Followable, isFollowedName, listFollowable } from "../../disk/followable-files.ts";
import type { Git } from "../../git/run-git.ts";
import { isIgnored, readIndexEntry } from "../../git/tracked-entries.ts";
import {
  findWorkingTree,
  orUnknown,
  pathInsideOf,
  type WorkingTree,
} from "../../git/working-tree.ts";

/**
 * What `listFollowable` lists, as far as it is to be shared. A link that git tracks comes with a
 * clone, so it does not choose among the files that git ignores: those are this machine's own. Two
 * git processes or three for a link to a file that would not count without it, else none.
 */
export async function listInstructionFiles(git: Git, dir: string): Promise<Followable[]> {
  const found = await listFollowable(dir);
  return await Promise.all(found.map((each) => withoutIgnoredTarget(git, dir, each)));
}

async function withoutIgnoredTarget(git: Git, dir: string, found: Followable): Promise<Followable> {
  const { name, path, problem } = found;
  if (problem || name === path || isFollowedName(path)) return found;
  const asked = await orUnknown(async () => {
    const search = await findWorkingTree(git, dir);
    if (search.kind !== "tree") return search;
    return { kind: "answer", is: await isClonesChoice(git, search.tree, { dir, name, path }) };
  });
  const isRefused = asked.kind === "answer" && "is" in asked && asked.is;
  const why: Reason | undefined =
    "why" in asked
      ? { code: "leave-unknown", ...asked.why }
      : isRefused
        ? { code: "link-to-ignored", target: join(dir, path) }
        : undefined;
  if (!why) return found;
  const unread = why.code === "leave-unknown";
  return { ...found, path: name, inode: undefined, problem: why, unread };
}

async function isClonesChoice(
  git: Git,
  tree: WorkingTree,
  { dir, name, path }: { readonly dir: string; readonly name: string; readonly path: string },
): Promise<boolean> {
  const target = placeIn(tree, join(dir, path));
  if (!(await isIgnored(git, target))) return false;
  return (await readIndexEntry(git, placeIn(tree, await linkOf(dir, name)))).exists;
}

/** The file itself, or the folder above it that is the link. */
async function linkOf(dir: string, name: string): Promise<string> {
  const above = dirname(name);
  const stats = above === "." ? undefined : await lstat(join(dir, above));
  return join(dir, stats?.isSymbolicLink() ? above : name);
}

function placeIn(tree: WorkingTree, path: string) {
  return { tree, path, pathInside: pathInsideOf(tree, path) ?? "" };
}
