import { readPassage } from "./branch-log.ts";
import { bytesAt, changesOf, isAncestor } from "./file-commits.ts";
import type { Git } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** How the checked-out commit relates to the one at which a file was last read. */
export interface FilePast {
  /** `onward`: a descendant, or the result of an amendment or a rebase. */
  readonly relation: "same" | "onward" | "back" | "elsewhere";
  /**
   * The commits since then that changed the file, newest first; if none did, the last one that did
   * before.
   */
  readonly changes: readonly string[];
  /** The file's bytes in the newest of these commits that other machines have read. */
  readonly told: readonly Buffer[];
  /**
   * For `elsewhere`: the commit to which the branch was set. Everything since then was committed
   * here.
   */
  readonly putAt: string | undefined;
}

/** What a commit is compared with. */
export interface PastOptions {
  /** The commit at which the file was read last; undefined where there was none. */
  readonly read: string | undefined;
  /** Whether the file was read before, with or without a commit. */
  readonly isKnown: boolean;
  /** Whether some machine has read the file at a commit that changed it. */
  readonly isTold: (commit: string) => boolean;
}

/** Of many commits that changed a file, this many of the newest are listed. */
const CHANGES_MAX = 50;
/**
 * Of the commits that others have read, this many are examined for one that is no ancestor of
 * another.
 */
const TOLD_MAX = 6;

/**
 * Compares the checked-out commit with the one that was read, for one file. If no commit in between
 * changed the file, they count as the same. At most six git processes, and a few more for commits
 * that others have read or for rebases. Throws `GitTrouble`.
 */
export async function readFilePast(
  git: Git,
  file: PlacedFile,
  {
    head,
    read,
    isKnown,
    isTold,
  }: {
    readonly head: { readonly branch: string | undefined; readonly commit: string | undefined };
  } & PastOptions,
): Promise<FilePast> {
  const { commit } = head;
  const here =
    commit === undefined ? [] : await changesOf(git, file, { commits: [commit], countMax: 1 });
  const none = { changes: here, told: [], putAt: commit };
  if (read === commit) return { relation: "same", ...none };
  // A text that was read before the first commit, or before commits were stored, was read here.
  if (read === undefined && isKnown) return { relation: "onward", ...none };
  if (read === undefined || commit === undefined) return { relation: "elsewhere", ...none };
  const isDescendant = await isAncestor(git, file, { one: read, other: commit });
  if (!isDescendant) {
    const before = await changesOf(git, file, { commits: [read], countMax: 1 });
    if (here.length > 0 && here[0] === before[0]) return { relation: "same", ...none };
    if (await isAncestor(git, file, { one: commit, other: read }))
      return { relation: "back", ...none };
    const passage = await readPassage(git, file, { read, branch: head.branch });
    if (passage.kind === "was-put") {
      return { relation: "elsewhere", ...none, putAt: passage.at ?? commit };
    }
  }
  // With full history: a merge that drops one side's change of the file is a change, too.
  // In git's own order, which clocks have no part in.
  const asked = ["--full-history", "--topo-order", commit, `^${read}`];
  const since = await changesOf(git, file, { commits: asked, countMax: CHANGES_MAX });
  if (since.length === 0) return { relation: isDescendant ? "same" : "onward", ...none };
  const told = await lastOf(git, file, since.filter(isTold).slice(0, TOLD_MAX));
  return { ...none, relation: "onward", changes: since, told: await textsAt(git, file, told) };
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

async function textsAt(git: Git, file: PlacedFile, commits: readonly string[]): Promise<Buffer[]> {
  const texts = await Promise.all(commits.map((commit) => bytesAt(git, file, commit)));
  return texts.filter((text) => text !== undefined);
}
