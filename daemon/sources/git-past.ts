import { BRANCHES } from "./git-refs.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** The checked-out commit beside the one at which a file was read last. */
export interface FilePast {
  /** `onward`: a descendant, or what an amendment or a rebase put in its place. */
  readonly relation: "same" | "onward" | "back" | "elsewhere";
  /** The commits since then that changed the file, latest first; the last one where none did. */
  readonly changes: readonly string[];
  /** The file's bytes in the latest of those that other machines have read. */
  readonly told: readonly Buffer[];
}

/** What a commit is compared with. */
export interface PastOptions {
  /** The commit that was read last; undefined where none was. */
  readonly read: string | undefined;
  /** Whether the file was read before, with a commit or without one. */
  readonly isKnown: boolean;
  /** Whether some machine has read the file at a commit that changed it. */
  readonly isTold: (commit: string) => boolean;
}

/** Of so many commits that changed a file at once, the latest are known by name. */
const CHANGES_MAX = 50;
/** So many of those that were told are looked at for one that the others do not lead to. */
const TOLD_MAX = 6;
/** So many entries of a branch's log are looked at. */
const LOG_ENTRIES_MAX = 200;
/** git does not know one of the commits, or there is no such log. */
const FATAL = 128;

/** Entries of a branch's log that go on from the one before, and throw no work away. */
const CONTINUES = /^(commit|rebase|pull|merge|cherry-pick|revert|am)\b/;

/**
 * Compares the checked-out commit with the one that was read by what happened to one file. A file
 * that no commit between them has changed is in the same commit. Six git processes at most, and a
 * few for what was told; throws `GitTrouble`.
 */
export async function readFilePast(
  git: Git,
  file: PlacedFile,
  head: { readonly branch: string | undefined; readonly commit: string | undefined },
  { read, isKnown, isTold }: PastOptions,
): Promise<FilePast> {
  const { commit } = head;
  const here = commit === undefined ? [] : await changesOf(git, file, [commit], 1);
  const none = { changes: here, told: [] };
  if (read === commit) return { relation: "same", ...none };
  // A text that was read before there was any commit, or before commits were kept, was read here.
  if (read === undefined && isKnown) return { relation: "onward", ...none };
  if (read === undefined || commit === undefined) return { relation: "elsewhere", ...none };
  const isDescendant = await isAncestor(git, file, read, commit);
  if (!isDescendant) {
    const before = await changesOf(git, file, [read], 1);
    if (here.length > 0 && here[0] === before[0]) return { relation: "same", ...none };
    if (await isAncestor(git, file, commit, read)) return { relation: "back", ...none };
    const isRewritten = await wasRewritten(git, file, read, head.branch);
    if (!isRewritten) return { relation: "elsewhere", ...none };
  }
  // In full: a merge that drops what one side did to the file is a change, too.
  const asked = ["--full-history", commit, `^${read}`];
  const since = await changesOf(git, file, asked, CHANGES_MAX);
  if (since.length === 0) return { relation: isDescendant ? "same" : "onward", ...none };
  const told = await lastOf(git, file, since.filter(isTold).slice(0, TOLD_MAX));
  return { relation: "onward", changes: since, told: await textsAt(git, file, told) };
}

/** Those of commits, the latest first, that none of the others leads to. */
async function lastOf(git: Git, file: PlacedFile, commits: readonly string[]): Promise<string[]> {
  const last: string[] = [];
  for (const commit of commits) {
    const leads = await Promise.all(last.map((each) => isAncestor(git, file, commit, each)));
    if (!leads.includes(true)) last.push(commit);
  }
  return last;
}

async function textsAt(
  git: Git,
  { tree, pathInside }: PlacedFile,
  commits: readonly string[],
): Promise<readonly Buffer[]> {
  const texts: Buffer[] = [];
  for (const commit of commits) {
    const asked = ["cat-file", "blob", `${commit}:${pathInside}`];
    const text = await gitOutput(git, tree.root, asked, [FATAL]);
    if (text) texts.push(text);
  }
  return texts;
}

async function changesOf(
  git: Git,
  { tree, pathInside }: PlacedFile,
  commits: readonly string[],
  countMax: number,
): Promise<string[]> {
  const asked = ["--literal-pathspecs", "rev-list", `--max-count=${countMax}`, ...commits, "--"];
  const printed = await gitOutput(git, tree.root, [...asked, pathInside], [FATAL]);
  return String(printed ?? "")
    .split("\n")
    .filter((line) => line !== "");
}

/** False, too, where a shallow clone does not reach so far. */
async function isAncestor(git: Git, { tree }: PlacedFile, one: string, other: string) {
  const asked = ["merge-base", "--is-ancestor", one, other];
  return (await gitOutput(git, tree.root, asked, [1, FATAL])) !== undefined;
}

/** Whether the branch went on from `read` by commits, amendments and rebases alone. */
async function wasRewritten(
  git: Git,
  { tree }: PlacedFile,
  read: string,
  branch: string | undefined,
): Promise<boolean> {
  if (branch === undefined) return false;
  const format = "--format=%H%x09%gs";
  const asked = ["log", "-g", format, `--max-count=${LOG_ENTRIES_MAX}`, BRANCHES + branch, "--"];
  const printed = await gitOutput(git, tree.root, asked, [FATAL]);
  for (const line of String(printed ?? "").split("\n")) {
    const [commit, subject = ""] = line.split("\t");
    if (commit === read) return true;
    if (!CONTINUES.test(subject)) return false;
  }
  return false;
}
