import { readPassage } from "./branch-log.ts";
import { bytesAt, changesOf, isAncestor } from "./file-commits.ts";
import type { Git } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** The checked-out commit beside the one at which a file was read last. */
export interface FilePast {
  /** `onward`: a descendant, or what an amendment or a rebase put in its place. */
  readonly relation: "same" | "onward" | "back" | "elsewhere";
  /** The commits since then that changed the file, latest first; the last one where none did. */
  readonly changes: readonly string[];
  /** The file's bytes in the latest of those that other machines have read. */
  readonly told: readonly Buffer[];
  /** Where `elsewhere` begins: what was committed since then was committed here. */
  readonly putAt: string | undefined;
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

/**
 * Compares the checked-out commit with the one that was read by what happened to one file. A file
 * that no commit between them has changed is in the same commit. Six git processes at most, and a
 * few for what was told or rebased; throws `GitTrouble`.
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
  // A text that was read before there was any commit, or before commits were kept, was read here.
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
  // In full: a merge that drops what one side did to the file is a change, too.
  const asked = ["--full-history", commit, `^${read}`];
  const since = await changesOf(git, file, { commits: asked, countMax: CHANGES_MAX });
  if (since.length === 0) return { relation: isDescendant ? "same" : "onward", ...none };
  const told = await lastOf(git, file, since.filter(isTold).slice(0, TOLD_MAX));
  return { ...none, relation: "onward", changes: since, told: await textsAt(git, file, told) };
}

/** Those of commits, the latest first, that none of the others leads to. */
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
