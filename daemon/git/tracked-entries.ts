import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** What the index of a working tree says about one file. */
export interface IndexEntry {
  readonly exists: boolean;
  /** A merge left several versions, between which a person must choose. */
  readonly unmerged: boolean;
  /** A sparse checkout: tracked, and missing on the disk by design. */
  readonly skipped: boolean;
  /** The name of the staged text; undefined where there is none, or several. */
  readonly object: string | undefined;
}

/** `TAG MODE OBJECT STAGE<tab>PATH`, as `git ls-files -s -t` prints it. */
const INDEX_LINE = /^(\S) (\d+) ([0-9a-f]+) (\d)\t(.*)$/s;

/** One git process. Throws `GitTrouble`. */
export async function readIndexEntry(git: Git, file: PlacedFile): Promise<IndexEntry> {
  // Where the file system ignores case, the index may spell the name differently.
  const pathspec = `:(top,literal,icase)${file.pathInside}`;
  const asked = ["ls-files", "-s", "-t", "-z", "--full-name", "--", pathspec];
  const printed = String(await gitOutput(git, file.tree.root, { args: asked }));
  const objects: string[] = [];
  const entry = { exists: false, unmerged: false, skipped: false };
  for (const record of printed.split("\0")) {
    const parts = INDEX_LINE.exec(record);
    if (!parts || !(await isSameFile(file, parts[5] ?? ""))) continue;
    entry.exists = true;
    entry.unmerged ||= parts[4] !== "0";
    entry.skipped ||= parts[1] === "S";
    objects.push(parts[3] ?? "");
  }
  return { ...entry, object: objects.length === 1 ? objects[0] : undefined };
}

/** A modification time as `git ls-files --debug` prints it: seconds and nanoseconds. */
const INDEX_TIME = /^ {2}mtime: (\d+):(\d+)$/m;

/**
 * The modification time by which the index knows the file, in milliseconds since the Unix epoch:
 * when git wrote it, or took what it had into the index. Undefined where git can't say. One git
 * process. Throws `GitTrouble`.
 */
export async function readIndexTime(git: Git, file: PlacedFile): Promise<number | undefined> {
  const pathspec = `:(top,literal,icase)${file.pathInside}`;
  const asked = ["ls-files", "--debug", "--", pathspec];
  const printed = String(await gitOutput(git, file.tree.root, { args: asked }));
  const [, seconds, nanoseconds] = INDEX_TIME.exec(printed) ?? [];
  if (seconds === undefined || Number(seconds) === 0) return undefined;
  return Number(seconds) * 1000 + Math.floor(Number(nanoseconds) / 1e6);
}

/**
 * When git last wrote the working tree's index, in milliseconds since the Unix epoch; undefined
 * where there is none.
 */
export async function readIndexWrite({ tree }: PlacedFile): Promise<number | undefined> {
  return (await stat(join(tree.gitDir, "index")).catch(() => undefined))?.mtimeMs;
}

async function isSameFile(file: PlacedFile, listed: string): Promise<boolean> {
  if (listed === file.pathInside) return true;
  if (listed.length !== file.pathInside.length) return false;
  const stats = [file.path, join(file.tree.root, listed)].map((path) =>
    stat(path, { bigint: true }).catch(() => undefined),
  );
  const [mine, other] = await Promise.all(stats);
  return mine !== undefined && mine.ino === other?.ino && mine.dev === other.dev;
}

/** A file in a commit's tree. */
export interface TreeEntry {
  /** As in git's trees: `120000` is a symbolic link. */
  readonly mode: string;
  readonly object: string;
}

/** The file in the tree of `commit`, if it is there. One git process. Throws `GitTrouble`. */
export async function findTreeEntry(
  git: Git,
  file: PlacedFile,
  commit: string,
): Promise<TreeEntry | undefined> {
  const asked = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--"];
  const printed = String(
    await gitOutput(git, file.tree.root, { args: [...asked, file.pathInside] }),
  );
  for (const record of printed.split("\0")) {
    const [left, path] = splitAt(record, "\t");
    const [mode, type, object] = left.split(" ");
    if (path !== file.pathInside || type !== "blob" || !mode || !object) continue;
    return { mode, object };
  }
  return undefined;
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** Whether any of git's ignore rules covers the path. One git process. Throws `GitTrouble`. */
export async function isIgnored(git: Git, file: PlacedFile): Promise<boolean> {
  // This command does not know `:(literal)`. After "./" a name can't be taken for such magic
  // either.
  const asked = ["check-ignore", "-q", "--", `./${file.pathInside}`];
  // Exit code 1: not ignored.
  return (await gitOutput(git, file.tree.root, { args: asked, absent: [1] })) !== undefined;
}
