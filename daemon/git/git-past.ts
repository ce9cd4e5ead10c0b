import { readMadeHere, readPassage } from "./branch-log.ts";
import { bytesAt, changesOf, hasCommit, isAncestor, mergeBasesOf } from "./file-commits.ts";
import type { Git } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** How the checked-out commit relates to the one at which a file was last read. */
export interface FilePast {
  /**
   * `onward`: a descendant, or the result of an amendment or a rebase. `anew`: the same commit or a
   * descendant, in another repository.
   */
  readonly relation: "same" | "onward" | "back" | "elsewhere" | "anew";
  /**
   * The commits since then that changed the file, newest first; if none did, the last one that did
   * before.
   */
  readonly changes: readonly string[];
  /** The file's bytes in the newest of these commits that other machines have read. */
  readonly told: readonly Buffer[];
  /** The file's bytes where the history that was read and those commits' part. */
  readonly parted?: readonly Buffer[];
  /**
   * The commit whose text the file started from. For `elsewhere`: the one to which the branch was
   * set; everything since then was committed here. For `anew`, and for a file that was never read:
   * the last one of others that some machine has read; `told` has any that stand beside it.
   */
  readonly putAt: string | undefined;
}

/** What a commit is compared with. */
export interface PastOptions {
  /** The commit at which the file was read last; undefined where there was none. */
  readonly read: string | undefined;
  /** Whether the file was read before, with or without a commit. */
  readonly isKnown: boolean;
  /** Whether that was in another repository, which knows nothing of what was done there. */
  readonly isAnother: boolean;
  /** Whether some machine has read the file at a commit that changed it. */
  readonly isTold: (commit: string) => boolean;
}

/** At most this many commits that changed a file are listed, the newest ones. */
const CHANGES_MAX = 50;
/**
 * Of the commits that others have read, this many are examined for one that is no ancestor of
 * another.
 */
const TOLD_MAX = 6;

/**
 * Compares the checked-out commit with the one that was read, for one file. If no commit in between
 * changed the file, they count as the same. At most seven git processes, and a few more for commits
 * that others have read or for rebases. Throws `GitTrouble`.
 */
export async function readFilePast(
  git: Git,
  file: PlacedFile,
  {
    head,
    read,
    isKnown,
    isAnother,
    isTold,
  }: {
    readonly head: { readonly branch: string | undefined; readonly commit: string | undefined };
  } & PastOptions,
): Promise<FilePast> {
  const { commit } = head;
  const here =
    commit === undefined ? [] : await changesOf(git, file, { commits: [commit], countMax: 1 });
  const none = { changes: here, told: [], putAt: commit };
  if (isAnother) return await pastOfAnother(git, file, { none, read, commit, isTold });
  if (read === commit) return { relation: "same", ...none };
  if (read === undefined && isKnown && commit !== undefined) {
    // A text that was in no commit goes on in one that was made here. Another brings others' text.
    if ((await bytesAt(git, file, commit)) === undefined) return { relation: "same", ...none };
    const made = await readMadeHere(git, file);
    const isOwn = here.some((each) => made.has(each));
    return { relation: isOwn ? "onward" : "elsewhere", ...none };
  }
  if (commit === undefined) return { relation: "elsewhere", ...none };
  if (read === undefined) return await sinceTold(git, file, { none, commit, isTold });
  const isDescendant = await isAncestor(git, file, { one: read, other: commit });
  if (!isDescendant) {
    // Nobody can say what became of its text since.
    if (!(await hasCommit(git, file, read))) return { relation: "elsewhere", ...none };
    const before = await changesOf(git, file, { commits: [read], countMax: 1 });
    if (here.length > 0 && here[0] === before[0]) return { relation: "same", ...none };
    if (await isAncestor(git, file, { one: commit, other: read }))
      return { relation: "back", ...none };
    const passage = await readPassage(git, file, { read, branch: head.branch });
    if (passage.kind === "was-put") {
      return { relation: "elsewhere", ...none, putAt: passage.at ?? commit };
    }
  }
  const since = await changesSince(git, file, { read, commit });
  if (since.length === 0) return { relation: isDescendant ? "same" : "onward", ...none };
  const told = await lastOf(git, file, since.filter(isTold).slice(0, TOLD_MAX));
  const parted = await textsWherePart(git, file, { read, told });
  const texts = await textsAt(git, file, told);
  return { ...none, relation: "onward", changes: since, told: texts, parted };
}

/**
 * Of a file that was never read here: where what others have read of it ends. What was committed
 * since then is an edit of that, whoever clones it.
 */
async function sinceTold(
  git: Git,
  file: PlacedFile,
  {
    none,
    commit,
    isTold,
  }: { readonly none: Omit<FilePast, "relation">; readonly commit: string } & Pick<
    PastOptions,
    "isTold"
  >,
): Promise<FilePast> {
  const commits = ["--full-history", "--topo-order", commit];
  const all = await changesOf(git, file, { commits, countMax: CHANGES_MAX });
  const [putAt, ...others] = await lastOf(git, file, all.filter(isTold).slice(0, TOLD_MAX));
  if (putAt === undefined || putAt === all[0]) return { relation: "elsewhere", ...none };
  const changes = all.slice(0, all.indexOf(putAt));
  return { relation: "onward", changes, putAt, told: await textsAt(git, file, others) };
}

/**
 * What another repository says of the commit that was read in the former one. What was saved there
 * and not committed is no part of it.
 */
async function pastOfAnother(
  git: Git,
  file: PlacedFile,
  {
    none,
    read,
    commit,
    isTold,
  }: {
    readonly none: Omit<FilePast, "relation">;
    readonly read: string | undefined;
    readonly commit: string | undefined;
    readonly isTold: (commit: string) => boolean;
  },
): Promise<FilePast> {
  if (read === undefined || commit === undefined) return { ...none, relation: "elsewhere" };
  if (read === commit) return { ...none, relation: "anew" };
  if (!(await isAncestor(git, file, { one: read, other: commit })))
    return { ...none, relation: "elsewhere" };
  const since = await changesSince(git, file, { read, commit });
  if (since.length === 0) return { ...none, relation: "anew", putAt: read };
  return { ...none, relation: "anew", changes: since, putAt: since.find(isTold) ?? read };
}

/** The commits after `read` that changed a file, newest first. */
async function changesSince(
  git: Git,
  file: PlacedFile,
  { read, commit }: { readonly read: string; readonly commit: string },
): Promise<string[]> {
  // With full history: a merge that drops one side's change of the file is a change, too.
  // In git's own order, which clocks have no part in.
  const commits = ["--full-history", "--topo-order", commit, `^${read}`];
  return await changesOf(git, file, { commits, countMax: CHANGES_MAX });
}

/** Those of the commits, newest first, that are no ancestors of the others. */
async function lastOf(git: Git, file: PlacedFile, commits: readonly string[]): Promise<string[]> {
  const last: string[] = [];
  for (const commit of commits) {
    const leads = await Promise.all(
      last.map((each) => isAncestor(git, file, { one: commit, other: each })),
    );
    if (!leads.includes(true)) last.push(commit);
  }
  return last;
}

/** A file's bytes where the history of a commit and those of others part. */
export async function textsWherePart(
  git: Git,
  file: PlacedFile,
  { read, told }: { readonly read: string; readonly told: readonly string[] },
): Promise<Buffer[]> {
  const all = await Promise.all(told.map((one) => mergeBasesOf(git, file, { one, other: read })));
  return await textsAt(git, file, [...new Set(all.flat())]);
}

async function textsAt(git: Git, file: PlacedFile, commits: readonly string[]): Promise<Buffer[]> {
  const texts = await Promise.all(commits.map((commit) => bytesAt(git, file, commit)));
  return texts.filter((text) => text !== undefined);
}
