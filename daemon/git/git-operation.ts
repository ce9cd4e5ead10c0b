import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { GitTrouble } from "./run-git.ts";
import type { WorkingTree } from "./working-tree.ts";

/** What git can have begun while it waits for a person. */
export type GitOperation = "merge" | "rebase" | "cherry-pick" | "revert" | "am" | "bisect";

export interface GitActivity {
  readonly operation: GitOperation | undefined;
  /** Some git is writing this working tree's index or HEAD, or died while doing so. */
  readonly locked: boolean;
}

/**
 * Files in a working tree's git folder that show an operation. Outer operations come first, because
 * a rebase contains cherry-picks.
 */
const MARKS: readonly (readonly [string, GitOperation])[] = [
  ["rebase-merge", "rebase"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["MERGE_HEAD", "merge"],
];

/**
 * What git is doing in this working tree. No git process. `operationRefs`: the marks that are refs
 * and not files (`Refs.operationRefs`). Throws `GitTrouble` where there is no git folder.
 */
export async function readActivity(
  tree: WorkingTree,
  operationRefs: ReadonlySet<string> = new Set(),
): Promise<GitActivity> {
  const names = new Set([...(await namesIn(tree.gitDir)), ...operationRefs]);
  return {
    operation: await operationOf(tree.gitDir, names),
    locked:
      names.has("index.lock") || names.has("HEAD.lock") || (await reftableLocked(tree, names)),
  };
}

async function operationOf(
  gitDir: string,
  names: ReadonlySet<string>,
): Promise<GitOperation | undefined> {
  // `git am` and `git rebase --apply` both use this folder; only `am` leaves this file in it.
  if (names.has("rebase-apply")) {
    return (await exists(join(gitDir, "rebase-apply", "applying"))) ? "am" : "rebase";
  }
  const marked = MARKS.find(([name]) => names.has(name));
  if (marked) return marked[1];
  const sequenced = names.has("sequencer") ? await sequencedIn(gitDir) : undefined;
  return sequenced ?? (names.has("BISECT_LOG") ? "bisect" : undefined);
}

/** A series of picks or reverts has only this mark once a conflict was committed by hand. */
async function sequencedIn(gitDir: string): Promise<GitOperation | undefined> {
  const todo = await readFile(join(gitDir, "sequencer", "todo"), "utf8").catch(() => "");
  if (todo === "") return undefined;
  return /^\s*revert\b/.test(todo) ? "revert" : "cherry-pick";
}

async function reftableLocked(tree: WorkingTree, names: ReadonlySet<string>): Promise<boolean> {
  if (!names.has("reftable")) return false;
  return exists(join(tree.gitDir, "reftable", "tables.list.lock"));
}

/** The names in one of git's folders. Throws `GitTrouble` where it can't be read. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (thrown) {
    throw new GitTrouble({ trouble: "refused", said: messageOf(thrown) });
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
