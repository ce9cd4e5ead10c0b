import { changesOf, isAncestor } from "./file-commits.ts";
import { BRANCHES } from "./git-refs.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** How a branch got from one commit to another that does not descend from it. */
export type Passage =
  /** By commits, amendments and rebases of work made in this repository. */
  | { readonly kind: "went-on" }
  /**
   * It was set to another commit, `at`, and may have moved on since; undefined where no log tells.
   */
  | { readonly kind: "was-put"; readonly at: string | undefined };

/** An entry of HEAD's or a branch's log. */
export interface LogEntry {
  readonly commit: string;
  /** When git wrote it, in milliseconds since the Unix epoch; git knows whole seconds. */
  readonly at: number;
  /** What git did, in git's own words ("reflog subject" in git-reflog). */
  readonly subject: string;
}

/** An entry of any reference's log. */
export interface RefEntry extends LogEntry {
  /** `HEAD`, or the full name of a branch. */
  readonly ref: string;
}

/** At most this many entries of a log are read. */
const ENTRIES_MAX = 200;
/** At most this many of all logs together. */
const ALL_ENTRIES_MAX = 2000;
/** A rebase is examined only if at most this many dropped commits changed the file. */
const DROPPED_MAX = 50;
/** git's exit code where there is no such log. */
const FATAL = 128;
const MS_PER_S = 1000;

/** Entries that continue from the commit before. */
export const GOES_ON = /^(commit|rebase|pull|merge|cherry-pick|revert|am)\b/;
/** Those of them that may drop commits. */
const REBASES = /^(rebase|pull)\b/;
/** Entries for a commit of what stood in the working tree. */
export const COMMITS = /^commit\b/;
/** Entries for a commit that was made in this repository. */
const MADE =
  /^(commit|cherry-pick|revert|am)\b|\((pick|reword|edit|squash|fixup|continue)\)|: Merge made by/;
/** Those for a commit that has nothing which was not here before, but for others' commits. */
export const MADE_HERE =
  /^commit(?! \(cherry-pick\))|\((pick|reword|edit|squash|fixup|continue)\)|: Merge made by/;
/** Those for a commit that git makes of another one, whoever has made that. */
export const MADE_WITH_OTHERS = /^(commit \(cherry-pick\)|cherry-pick|am)\b/;
export const REVERTS = /^revert\b/;
/** Those that a person has finished where git could not do all of it alone. */
export const MADE_BY_HAND = /^commit \((merge|cherry-pick)\)|\(continue\)/;

/**
 * How `branch` got from the commit `read` to where it is now, by its own log. A rebase continues
 * the work made here. But if it dropped commits by others that changed the file, somebody forced
 * another history on the branch: then the branch was set there.
 */
export async function readPassage(
  git: Git,
  file: PlacedFile,
  { read, branch }: { readonly read: string; readonly branch: string | undefined },
): Promise<Passage> {
  if (branch === undefined) return { kind: "was-put", at: undefined };
  const entries = await readLog(git, file, BRANCHES + branch);
  for (const [at, { commit, subject }] of entries.entries()) {
    if (commit === read) return { kind: "went-on" };
    if (!GOES_ON.test(subject)) return { kind: "was-put", at: commit };
    const before = entries[at + 1]?.commit;
    if (before === undefined) break;
    const isRebased =
      REBASES.test(subject) && !(await isAncestor(git, file, { one: before, other: commit }));
    if (
      isRebased &&
      (await leavesOutOthers(git, file, { before, after: commit, ofBranch: entries }))
    ) {
      return { kind: "was-put", at: commit };
    }
  }
  return { kind: "was-put", at: undefined };
}

/** Whether a commit that changed the file and that `after` lacks was made elsewhere. */
async function leavesOutOthers(
  git: Git,
  file: PlacedFile,
  {
    before,
    after,
    ofBranch,
  }: { readonly before: string; readonly after: string; readonly ofBranch: readonly LogEntry[] },
): Promise<boolean> {
  const left = await changesOf(git, file, {
    commits: [before, `^${after}`],
    countMax: DROPPED_MAX,
  });
  if (left.length === 0) return false;
  // Only the log of HEAD has the single commits of a rebase.
  const entries = [...ofBranch, ...(await readLog(git, file, "HEAD"))];
  const made = entries.filter(({ subject }) => MADE.test(subject)).map(({ commit }) => commit);
  return !left.every((commit) => made.includes(commit));
}

/**
 * The commits from which a commit was made here: its parent, and what was checked out before, which
 * an amendment or a rebase has replaced. One git process.
 */
export async function madeFrom(git: Git, file: PlacedFile, commit: string): Promise<string[]> {
  const entries = await readLog(git, file, "HEAD");
  const at = entries.findIndex((each) => each.commit === commit && MADE.test(each.subject));
  const former = at === -1 ? undefined : entries[at + 1]?.commit;
  return former === undefined ? [`${commit}^`] : [`${commit}^`, former];
}

/** The commits that were made in this repository, and not fetched. One git process. */
export async function readMadeHere(git: Git, file: PlacedFile): Promise<ReadonlySet<string>> {
  const entries = await readLog(git, file, "HEAD");
  return new Set(entries.flatMap(({ commit, subject }) => (MADE.test(subject) ? [commit] : [])));
}

/**
 * Whether a person has committed what stood in the working tree since `read` was checked out.
 * Pulls, rebases and the like begin with a tree in which nothing is changed. One git process.
 */
export async function isCommittedHere(git: Git, file: PlacedFile, read: string): Promise<boolean> {
  const since = await readSteps(git, file, read);
  return since.some(({ subject }) => COMMITS.test(subject));
}

/** What HEAD's log says since `read` was checked out, the latest first. One git process. */
async function readSteps(
  git: Git,
  file: PlacedFile,
  read: string | undefined,
): Promise<LogEntry[]> {
  const entries = await readLog(git, file, "HEAD");
  const at = entries.findIndex(({ commit }) => commit === read);
  return at === -1 ? entries : entries.slice(0, at);
}

/**
 * The logs of HEAD, of all branches and of all remotes' branches; each with its latest entry first.
 * One git process.
 */
export async function readAllLogs(git: Git, file: PlacedFile): Promise<RefEntry[]> {
  return await readEntries(git, file, { refs: ["--all"], countMax: ALL_ENTRIES_MAX });
}

/** The latest first; empty where git keeps none. One git process. */
export async function readLog(git: Git, file: PlacedFile, ref: string): Promise<LogEntry[]> {
  return await readEntries(git, file, { refs: [ref], countMax: ENTRIES_MAX });
}

/** The latest entry of HEAD's log; undefined where git keeps none. One git process. */
export async function readLastEntry(git: Git, file: PlacedFile): Promise<LogEntry | undefined> {
  return (await readEntries(git, file, { refs: ["HEAD"], countMax: 1 }))[0];
}

async function readEntries(
  git: Git,
  { tree }: PlacedFile,
  { refs, countMax }: { readonly refs: readonly string[]; readonly countMax: number },
): Promise<RefEntry[]> {
  // With a date `%gD` is when an entry was written, and not its number.
  const format = ["--no-show-signature", "--date=raw", "--format=%H%x09%gD%x09%gs"];
  const asked = ["log", "-g", ...format, `--max-count=${countMax}`, ...refs, "--"];
  const printed = await gitOutput(git, tree.root, { args: asked, absent: [FATAL] });
  return String(printed ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [commit = "", when = "", subject = ""] = line.split("\t");
      const [, ref = "", seconds = 0] = /^(.*)@\{(\d+)/.exec(when) ?? [];
      return { commit, ref, at: Number(seconds) * MS_PER_S, subject };
    });
}
