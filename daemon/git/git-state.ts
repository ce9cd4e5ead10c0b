// What git knows of a file and of a folder. Nothing here changes a repository.

import { defaultBranchOf, defaultCommitsOf } from "./default-branch.ts";
import { type GitOperation, readActivity } from "./git-operation.ts";
import { type Head, type Refs, readRefs } from "./git-refs.ts";
import { isInCommit } from "./in-commit.ts";
import { type Git, type GitUnknown, gitOutput } from "./run-git.ts";
import { findTreeEntry, type IndexEntry, isIgnored, readIndexEntry } from "./tracked-entries.ts";
import { orUnknown, type PlacedFile, placeFile } from "./working-tree.ts";

/** What the daemon may do with a followed file, given the working tree that it is in. */
export type FileStanding =
  /** Not in a working tree: git has no say. */
  | { readonly kind: "no-git" }
  /** Followed in both directions if it exists; may be created if `ignored`. */
  | {
      readonly kind: "untracked";
      readonly ignored: boolean;
      readonly head: Head;
      readonly file: PlacedFile;
    }
  /** Only saves are followed, and only while `onDefaultBranch`. */
  | {
      readonly kind: "tracked";
      readonly onDefaultBranch: boolean;
      readonly defaultBranch: string | undefined;
      /** Undefined when HEAD is detached. */
      readonly branch: string | undefined;
      /** Undefined before the first commit. For `readHeadText`. */
      readonly commit: string | undefined;
      readonly file: PlacedFile;
    }
  /** Left alone until this is over. */
  | {
      readonly kind: "busy";
      readonly operation: GitOperation | "locked" | "unmerged";
      readonly file: PlacedFile;
    }
  /** git gave no answer, so the file may be tracked. It is left alone, and `status` says why. */
  | GitUnknown;

/**
 * How git treats the file at `path`, which need not exist. *Tracked* means in the index, or in the
 * tree of HEAD or of the default branch, here or on `origin`; see `defaultBranchOf`. Symbolic links
 * are followed: the file that a write would change is what counts.
 *
 * During an operation of git an ignored file stays free, because git does not touch it. A file that
 * is neither tracked nor ignored may belong to the branch that is being rebased, so it is busy.
 *
 * To act on an `untracked` file's bytes, read them first and call this afterwards: then no checkout
 * can have put a tracked file there in between. For a `tracked` file use `readTrackedText`.
 *
 * No git process without a repository, three for a file in the index, four for another, and one for
 * each commit that was not asked about before. A few more where the default branch has an unusual
 * name, or in the reftable format. Never rejects because of git or the file system.
 */
export async function fileStanding(git: Git, path: string): Promise<FileStanding> {
  return orUnknown(async () => {
    const search = await placeFile(git, path);
    return search.kind === "placed" ? standingOf(git, search.file) : search;
  });
}

async function standingOf(git: Git, file: PlacedFile): Promise<FileStanding> {
  // Read before the index: if nothing is locked now, the index that is read next is up to date.
  const before = await readActivity(file.tree);
  if (before.locked) return { kind: "busy", operation: before.operation ?? "locked", file };
  const [refs, entry] = await Promise.all([readRefs(git, file.tree), readIndexEntry(git, file)]);
  const { operation } = await readActivity(file.tree, refs.operationRefs);
  const defaultBranch = await defaultBranchOf(git, file.tree, refs);
  if (!(await isTracked(git, file, { entry, refs, defaultBranch }))) {
    const ignored = await isIgnored(git, file);
    if (operation === undefined || ignored) {
      return { kind: "untracked", ignored, head: refs.head, file };
    }
  }
  if (operation !== undefined) return { kind: "busy", operation, file };
  if (entry.unmerged) return { kind: "busy", operation: "unmerged", file };
  const { branch, commit } = refs.head;
  const onDefaultBranch = branch !== undefined && branch === defaultBranch;
  return { kind: "tracked", onDefaultBranch, defaultBranch, branch, commit, file };
}

async function isTracked(
  git: Git,
  file: PlacedFile,
  {
    entry,
    refs,
    defaultBranch,
  }: {
    readonly entry: IndexEntry;
    readonly refs: Refs;
    readonly defaultBranch: string | undefined;
  },
): Promise<boolean> {
  if (entry.exists) return true;
  const tips = await defaultCommitsOf(git, file.tree, { refs, defaultBranch });
  const commits = new Set(refs.head.commit === undefined ? tips : [refs.head.commit, ...tips]);
  const { isReplacing } = refs;
  const found = await Promise.all(
    [...commits].map((commit) => isInCommit(git, file, { commit, isReplacing })),
  );
  return found.includes(true);
}

/** A file's bytes as committed: with the repository's line endings, before any filter. */
export type HeadText =
  | { readonly kind: "text"; readonly bytes: Buffer }
  | { readonly kind: "absent" }
  | GitUnknown;

/**
 * The file in `commit`, which came with a `tracked` standing or an accepted read. Absent without a
 * commit, or where the commit has a symbolic link there. Two git processes.
 */
export async function readHeadText(
  git: Git,
  file: PlacedFile,
  commit: string | undefined,
): Promise<HeadText> {
  return orUnknown(async () => {
    const entry = commit === undefined ? undefined : await findTreeEntry(git, file, commit);
    if (entry === undefined || entry.mode === "120000") return { kind: "absent" };
    const bytes = await gitOutput(git, file.tree.root, {
      args: ["cat-file", "blob", entry.object],
    });
    return bytes === undefined ? { kind: "absent" } : { kind: "text", bytes };
  });
}
