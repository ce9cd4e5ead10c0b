import { lstat, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { isMissing } from "../disk/read-file.ts";
import { type Git, GitTrouble, type GitUnknown, troubleOf } from "./run-git.ts";

/** One working tree: the main checkout, a linked worktree or a submodule. Paths are real. */
export interface WorkingTree {
  /** Its top level. */
  readonly root: string;
  /** Its own git folder: `HEAD`, the index, locks and operations in progress. */
  readonly gitDir: string;
  /** The folder with refs and objects that all working trees of the repository share. */
  readonly commonDir: string;
  readonly shallow: boolean;
}

/** Throws for a `.git`, and for what is inside of one: all of that is git's own. */
export function refuseGitsOwn(dir: string): void {
  const parts = dir.split(sep);
  const at = parts.indexOf(".git");
  if (at < 0) return;
  const where =
    at === parts.length - 1 ? "is git's own" : "is inside of a .git, which is git's own";
  const around = parts.slice(0, at).join(sep) || sep;
  throw new AppError(
    "invalid_request",
    `${dir} ${where}: \`memsync link ${shellWord(around)}\` links the folder around it`,
  );
}

/** A working tree whose `.git` leads nowhere, as after its repository was moved. */
export interface LostTree {
  readonly root: string;
  /** Where its `.git` says that git's folder is. Nothing is there. */
  readonly gitDir: string;
  readonly kind: "worktree" | "submodule" | "other";
}

/**
 * The lost working tree that a folder is in. git knows nothing of it, so whatever is asked about it
 * would be answered by a folder around it, or it would count as a project of its own. No git
 * process.
 */
export async function findLostTree(dir: string): Promise<LostTree | undefined> {
  for (let root = dir; ; root = dirname(root)) {
    const to = linkIn(await textAt(join(root, ".git")));
    if (to !== undefined) {
      const gitDir = resolve(root, to);
      return (await mayExist(gitDir)) ? undefined : { root, gitDir, kind: kindOf(gitDir) };
    }
    if (dirname(root) === root || (await mayExist(join(root, ".git")))) return undefined;
  }
}

/** git keeps what belongs to a worktree or a submodule in folders of these names. */
function kindOf(gitDir: string): LostTree["kind"] {
  const parts = gitDir.split(sep);
  if (parts.at(-2) === "worktrees" && parts.at(-3) !== "modules") return "worktree";
  return parts.includes("modules") ? "submodule" : "other";
}

/** What is wrong with a lost working tree, and how it is brought back. */
export function lostTreeShown({ root, gitDir, kind }: LostTree): string {
  const where = `${root} belongs to a repository that is not at ${gitDir} any more`;
  switch (kind) {
    case "worktree":
      return `${where}: where it is now, \`git worktree repair ${shellWord(root)}\` brings it back`;
    case "submodule":
      return (
        `${where}: move the folder aside, and \`git submodule update --init\` in the repository ` +
        "around it makes the submodule anew"
      );
    case "other":
      return `${where}: move that back, or name in ${join(root, ".git")} where it is now`;
  }
}

/** Throws for a lost working tree: it would become a project of its own. No git process. */
export async function refuseLostTree(dir: string): Promise<void> {
  const lost = await findLostTree(dir);
  if (lost) throw new AppError("invalid_request", lostTreeShown(lost));
}

export type TreeSearch =
  | { readonly kind: "tree"; readonly tree: WorkingTree }
  | { readonly kind: "no-git" }
  /** There is a repository, but git could not or would not read it. */
  | GitUnknown;

/** A file in a working tree. It need not exist. */
export interface PlacedFile {
  readonly tree: WorkingTree;
  /** Absolute, with every symbolic link resolved: the file that a write would change. */
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
 * working tree. Without git on the machine a folder below a `.git` is `unknown`, not `no-git`: its
 * files may be tracked. One git process; none where there is no `.git` above.
 */
export async function findWorkingTree(git: Git, folder: string): Promise<TreeSearch> {
  const real = await realPathOf(folder);
  if (!(await isUnderDotGit(real))) return { kind: "no-git" };
  const result = await git(real, ["rev-parse", ...ASKED]);
  if (result.kind === "done") return treeOf(real, result.stdout.toString("utf8"));
  const code = result.kind === "refused" ? result.code : undefined;
  if (code === "no-repository" || code === "no-work-tree") return { kind: "no-git" };
  const why = troubleOf(result);
  return { kind: "unknown", why: code === "left-behind" ? { ...why, trouble: code } : why };
}

async function treeOf(folder: string, printed: string): Promise<TreeSearch> {
  const lines = printed.replace(/\n$/, "").split("\n");
  const [root, gitDir, commonDir, shallow] = lines;
  if (lines.length !== ASKED.length || !root || !gitDir || !commonDir) {
    return { kind: "unknown", why: { trouble: "line-break" } };
  }
  const tree = {
    root: await realPathOf(root),
    gitDir: await realPathOf(gitDir),
    // Older gits print this path relative to the working directory.
    commonDir: await realPathOf(resolve(folder, commonDir)),
    shallow: shallow === "true",
  };
  return { kind: "tree", tree };
}

/**
 * Whether a folder is in a repository of its own, as a submodule is, below a folder around it. No
 * git process.
 */
export async function isInRepositoryBelow(around: string, folder: string): Promise<boolean> {
  for (let at = folder; at !== around && dirname(at) !== at; at = dirname(at)) {
    if (await mayExist(join(at, ".git"))) return true;
  }
  return false;
}

/**
 * The `commonDir` of the working tree that a folder is in, as the files there say it; undefined
 * where there is none. No git process.
 */
export async function commonDirAt(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, ".git");
    const found = await lstat(path).catch(() => undefined);
    if (found) return await commonDirOf(at, found.isFile() ? await textAt(path) : undefined);
    if (dirname(at) === at) return undefined;
  }
}

/** `link`: what the `.git` says that is a file, as that of a worktree or a submodule is. */
async function commonDirOf(root: string, link: string | undefined): Promise<string> {
  const to = linkIn(link);
  if (to === undefined) return await realPathOf(join(root, ".git"));
  const gitDir = await realPathOf(resolve(root, to));
  const common = await textAt(join(gitDir, "commondir"));
  return common === undefined ? gitDir : await realPathOf(resolve(gitDir, common.trim()));
}

/** Where a `.git` that is a file says that git's folder is. */
function linkIn(text: string | undefined): string | undefined {
  return /^gitdir: (.+)$/m.exec(text ?? "")?.[1];
}

async function textAt(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(() => undefined);
}

/** Whether the folder or one above may contain a `.git`. One that can't be read may. */
async function isUnderDotGit(folder: string): Promise<boolean> {
  const looked: Promise<boolean>[] = [];
  for (let at = folder; ; at = dirname(at)) {
    looked.push(mayExist(join(at, ".git")));
    if (dirname(at) === at) return (await Promise.all(looked)).includes(true);
  }
}

/**
 * The folder that is the project for a user in `folder`: the top level of its working tree; or the
 * folder itself, without one or where git gave no answer. Of a lost working tree it is that one's
 * top level. Absolute, with symbolic links resolved. A sub-folder is a project of its own only
 * where the caller was told so.
 */
export async function projectFolder(git: Git, folder: string): Promise<string> {
  const real = await realPathOf(folder);
  const search = await findWorkingTree(git, real);
  if (search.kind === "tree") return search.tree.root;
  return search.kind === "no-git" ? real : ((await findLostTree(real))?.root ?? real);
}

/** The working tree of the file at `path`, with symbolic links resolved. One git process. */
export async function placeFile(git: Git, path: string): Promise<FileSearch> {
  const real = await realPathOf(path);
  const search = await findWorkingTree(git, await nearestFolder(dirname(real)));
  if (search.kind !== "tree") return search;
  const pathInside = pathInsideOf(search.tree, real);
  if (pathInside === undefined) {
    return { kind: "unknown", why: { trouble: "elsewhere" } };
  }
  return { kind: "placed", file: { tree: search.tree, path: real, pathInside } };
}

/** `path` from the top level, with "/"; "" for the top level; undefined outside of it. */
export function pathInsideOf(tree: WorkingTree, path: string): string | undefined {
  const steps = relative(tree.root, path).split(sep);
  return steps[0] === ".." ? undefined : steps.join("/");
}

/**
 * The main checkout's folder, the same from all its worktrees; for a bare repository with
 * worktrees, the repository.
 */
export function mainFolder(tree: WorkingTree): string {
  if (tree.gitDir === tree.commonDir) return tree.root;
  return basename(tree.commonDir) === ".git" ? dirname(tree.commonDir) : tree.commonDir;
}

/** `path` with symbolic links resolved as far as it exists. */
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

/** Runs `look` and turns `GitTrouble` into `unknown`. Any other error is a bug. */
export async function orUnknown<T>(look: () => Promise<T>): Promise<T | GitUnknown> {
  try {
    return await look();
  } catch (thrown) {
    if (thrown instanceof GitTrouble) return { kind: "unknown", why: thrown.why };
    throw thrown;
  }
}
