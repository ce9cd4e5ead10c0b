import { stat } from "node:fs/promises";
import { join } from "node:path";
import { defaultBranchOf, defaultCommitsOf } from "./default-branch.ts";
import { type GitOperation, readActivity } from "./git-operation.ts";
import { type Head, headSignature, readRefs } from "./git-refs.ts";
import { type Git, type GitUnknown, gitOutput } from "./run-git.ts";
import { orUnknown, type PlacedFile, placeFile, type WorkingTree } from "./working-tree.ts";

/** A file of a folder that git tracks: in the index, in HEAD, or on the default branch. */
export interface TrackedName {
  readonly isInIndex: boolean;
  /** A merge left several versions of it. */
  readonly isUnmerged: boolean;
  /** A sparse checkout leaves it out. */
  readonly isSkipped: boolean;
  /** git's name of its text in HEAD; undefined where it is not there. */
  readonly committed: string | undefined;
}

/** How git treats the files of a folder, at one moment. */
export type FolderStanding =
  /** Not in a working tree: git has no say. */
  | { readonly kind: "no-git" }
  | GitUnknown
  | {
      readonly kind: "tree";
      /** The folder, as a file of its working tree. */
      readonly folder: PlacedFile;
      readonly head: Head;
      readonly defaultBranch: string | undefined;
      /** What git is at; undefined: nothing. */
      readonly operation: GitOperation | "locked" | undefined;
      /** By their paths from the folder, in lower case: some systems take these for the same. */
      readonly tracked: ReadonlyMap<string, TrackedName>;
      /** See `treeSign`. */
      readonly sign: string;
    };

/**
 * How git treats all files of a folder, which need not exist. To act on their bytes, read these
 * first. Six git processes for the whole folder, none without a repository; a few more where the
 * default branch has an unusual name. Never rejects because of git or the file system.
 */
export async function folderStanding(git: Git, path: string): Promise<FolderStanding> {
  return await orUnknown(async () => {
    const search = await placeFile(git, path);
    return search.kind === "placed" ? await standingOf(git, search.file) : search;
  });
}

async function standingOf(git: Git, folder: PlacedFile): Promise<FolderStanding> {
  const { tree } = folder;
  const sign = await treeSign(tree);
  // Read before the index: if nothing is locked now, the index that is read next is up to date.
  const before = await readActivity(tree);
  const [refs, index] = await Promise.all([readRefs(git, tree), readIndex(git, folder)]);
  const defaultBranch = await defaultBranchOf(git, tree, refs);
  const tips = await defaultCommitsOf(git, tree, { refs, defaultBranch });
  const { head } = refs;
  const inHead = await filesIn(git, folder, head.commit);
  const others = tips.filter((commit) => commit !== head.commit);
  const elsewhere = await Promise.all(others.map((commit) => filesIn(git, folder, commit)));
  const after = await readActivity(tree, refs.operationRefs);
  const isLocked = before.locked || after.locked;
  const names = new Set([index, inHead, ...elsewhere].flatMap((each) => [...each.keys()]));
  const tracked = new Map(
    [...names].map((name): [string, TrackedName] => {
      const { isUnmerged = false, isSkipped = false } = index.get(name) ?? {};
      const committed = inHead.get(name);
      return [name, { isInIndex: index.has(name), isUnmerged, isSkipped, committed }];
    }),
  );
  const operation = isLocked ? "locked" : after.operation;
  return { kind: "tree", folder, head, defaultBranch, operation, tracked, sign };
}

/**
 * Changes whenever HEAD or the index does, and with each fetch. Comparing two of them tells,
 * without a process, that git did nothing to a working tree. Throws `GitTrouble` where there is no
 * HEAD.
 */
export async function treeSign(tree: WorkingTree): Promise<string> {
  const { operation, locked } = await readActivity(tree);
  const files = [
    join(tree.gitDir, "index"),
    join(tree.gitDir, "FETCH_HEAD"),
    join(tree.commonDir, "packed-refs"),
  ];
  const signs = await Promise.all(files.map(signOf));
  return JSON.stringify([await headSignature(tree), signs, operation, locked]);
}

async function signOf(path: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return stats ? `${stats.mtimeNs} ${stats.size} ${stats.ino}` : "";
}

/** `TAG MODE OBJECT STAGE<tab>PATH`, as `git ls-files -s -t` prints it. */
const INDEX_LINE = /^(\S) \d+ [0-9a-f]+ (\d)\t(.*)$/s;

async function readIndex(git: Git, folder: PlacedFile) {
  const pathspec = `:(top,literal,icase)${folder.pathInside}`;
  const args = ["ls-files", "-s", "-t", "-z", "--full-name", "--", pathspec];
  const printed = String(await gitOutput(git, folder.tree.root, { args }));
  const found = new Map<string, { isUnmerged: boolean; isSkipped: boolean }>();
  for (const record of printed.split("\0")) {
    const [, tag, stage, path = ""] = INDEX_LINE.exec(record) ?? [];
    const name = nameIn(folder, path);
    if (name !== undefined) found.set(name, { isUnmerged: stage !== "0", isSkipped: tag === "S" });
  }
  return found;
}

/** git's names of the texts in a commit. A symbolic link is none. */
async function filesIn(
  git: Git,
  folder: PlacedFile,
  commit: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (commit === undefined) return found;
  const asked = ["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit, "--"];
  const args = [...asked, `${folder.pathInside}/`];
  for (const record of String(await gitOutput(git, folder.tree.root, { args })).split("\0")) {
    const at = record.indexOf("\t");
    const [mode, , object = ""] = record.slice(0, Math.max(at, 0)).split(" ");
    const name = nameIn(folder, record.slice(at + 1));
    if (name !== undefined && mode !== "120000") found.set(name, object);
  }
  return found;
}

/** From the folder; undefined for what is not in it. */
function nameIn({ pathInside }: PlacedFile, path: string): string | undefined {
  if (path.length <= pathInside.length + 1) return undefined;
  return path.slice(pathInside.length + 1).toLowerCase();
}

/** At most this many names are asked about at once: systems limit a command's length. */
const NAMES_MAX = 50;

/**
 * Those of the names of a folder that any of git's ignore rules covers. One git process for fifty.
 * Throws `GitTrouble`.
 */
export async function ignoredAmong(
  git: Git,
  { tree, pathInside }: PlacedFile,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const ignored = new Set<string>();
  for (let from = 0; from < names.length; from += NAMES_MAX) {
    const part = names.slice(from, from + NAMES_MAX);
    // After "./" a name can't be taken for a pathspec's magic.
    const paths = part.map((name) => `./${pathInside}/${name}`);
    // Exit code 1: none is ignored.
    const args = ["-c", "core.quotePath=false", "check-ignore", "--", ...paths];
    const printed = await gitOutput(git, tree.root, { args, absent: [1] });
    const found = new Set(String(printed ?? "").split("\n"));
    for (const [at, path] of paths.entries()) {
      if (found.has(path)) ignored.add(part[at] ?? "");
    }
  }
  return ignored;
}
