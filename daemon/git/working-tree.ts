import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isMissing } from "../disk/read-file.ts";
import { type Git, GitTrouble, troubleOf } from "./run-git.ts";

/** One working tree: the main checkout, a linked worktree or a submodule. Paths are real. */
export interface WorkingTree {
  /** Its top level. */
  readonly root: string;
  /** Its own git folder: `HEAD`, the index, locks and operations in progress. */
  readonly gitDir: string;
  /** The folder that the repository's working trees share: refs and objects. */
  readonly commonDir: string;
  readonly shallow: boolean;
}

export type TreeSearch =
  | { readonly kind: "tree"; readonly tree: WorkingTree }
  | { readonly kind: "no-git" }
  /** There is a repository, but git would not or could not look at it. */
  | { readonly kind: "unknown"; readonly reason: string };

/** A file in a working tree; it need not exist. */
export interface PlacedFile {
  readonly tree: WorkingTree;
  /** Absolute, with every symbolic link followed: what a write would change. */
  readonly path: string;
  /** From the top level, with "/". */
  readonly pathInside: string;
}

export type FileSearch =
  | { readonly kind: "placed"; readonly file: PlacedFile }
  | Exclude<TreeSearch, { readonly kind: "tree" }>;

const ASKED = [
  "--show-toplevel",
  "--absolute-git-dir",
  "--git-common-dir",
  "--is-shallow-repository",
];

/**
 * The working tree that contains `folder`. A bare repository, or the inside of a `.git`, is no
 * working tree. Without git on the machine a folder under a `.git` is `unknown`, not `no-git`:
 * its files may be tracked. One git process; none where no `.git` is above.
 */
export async function findWorkingTree(git: Git, folder: string): Promise<TreeSearch> {
  const real = await realPathOf(folder);
  if (!(await isUnderDotGit(real))) return { kind: "no-git" };
  const result = await git(real, ["rev-parse", ...ASKED]);
  if (result.kind === "done") return treeOf(real, result.stdout.toString("utf8"));
  if (result.kind === "refused" && saysNoTree(result.message)) return { kind: "no-git" };
  return { kind: "unknown", reason: troubleOf(result) };
}

function saysNoTree(message: string): boolean {
  // With a path instead of "(or any", a worktree's or submodule's link to its repository is broken.
  return (
    message.includes("not a git repository (or any") ||
    message.includes("must be run in a work tree")
  );
}

async function treeOf(folder: string, printed: string): Promise<TreeSearch> {
  const lines = printed.replace(/\n$/, "").split("\n");
  const [root, gitDir, commonDir, shallow] = lines;
  if (lines.length !== ASKED.length || !root || !gitDir || !commonDir) {
    return { kind: "unknown", reason: "the repository's path has a line break in it" };
  }
  const tree = {
    root: await realPathOf(root),
    gitDir: await realPathOf(gitDir),
    // Older gits print this one from the folder they run in.
    commonDir: await realPathOf(resolve(folder, commonDir)),
    shallow: shallow === "true",
  };
  return { kind: "tree", tree };
}

/** Whether there may be a `.git` in the folder or in one above: what can't be looked at may be. */
async function isUnderDotGit(folder: string): Promise<boolean> {
  const looked: Promise<boolean>[] = [];
  for (let at = folder; ; at = dirname(at)) {
    looked.push(mayExist(join(at, ".git")));
    if (dirname(at) === at) return (await Promise.all(looked)).includes(true);
  }
}

/**
 * The folder that is the project when the user stands in `folder`: the top level of its working
 * tree, or the folder itself without one or where git cannot tell. Real and absolute. A sub-folder
 * is a project of its own only when the caller was told so.
 */
export async function projectFolder(git: Git, folder: string): Promise<string> {
  const real = await realPathOf(folder);
  const search = await findWorkingTree(git, real);
  return search.kind === "tree" ? search.tree.root : real;
}

/**
 * Where `path` stands: the working tree of the file that a read or a write would reach through
 * symbolic links. One git process.
 */
export async function placeFile(git: Git, path: string): Promise<FileSearch> {
  const real = await realPathOf(path);
  const search = await findWorkingTree(git, await nearestFolder(dirname(real)));
  if (search.kind !== "tree") return search;
  const pathInside = pathInsideOf(search.tree, real);
  if (pathInside === undefined) {
    return { kind: "unknown", reason: "git has this folder's working tree elsewhere" };
  }
  return { kind: "placed", file: { tree: search.tree, path: real, pathInside } };
}

/** `path` from the top level, with "/"; "" for the top level; undefined outside of it. */
export function pathInsideOf(tree: WorkingTree, path: string): string | undefined {
  const steps = relative(tree.root, path).split(sep);
  return steps[0] === ".." ? undefined : steps.join("/");
}

/**
 * The folder of the main checkout, the same from each of its worktrees; for a bare repository
 * with worktrees, the repository.
 */
export function mainFolder(tree: WorkingTree): string {
  if (tree.gitDir === tree.commonDir) return tree.root;
  return basename(tree.commonDir) === ".git" ? dirname(tree.commonDir) : tree.commonDir;
}

/** `path` with symbolic links followed as far as it exists. */
export async function realPathOf(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(await realPathOf(parent), basename(absolute));
  }
}

async function nearestFolder(folder: string): Promise<string> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() || dirname(folder) === folder) return folder;
  return nearestFolder(dirname(folder));
}

async function mayExist(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (thrown) => !isMissing(thrown),
  );
}

/** Runs `look`; what git could not say becomes `unknown`. Anything else thrown is a bug. */
export async function orUnknown<T>(
  look: () => Promise<T>,
): Promise<T | { readonly kind: "unknown"; readonly reason: string }> {
  try {
    return await look();
  } catch (thrown) {
    if (thrown instanceof GitTrouble) return { kind: "unknown", reason: thrown.message };
    throw thrown;
  }
}
