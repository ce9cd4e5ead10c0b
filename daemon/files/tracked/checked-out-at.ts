import type { Head } from "../../git/git-refs.ts";
import type { FileStanding } from "../../git/git-state.ts";
import type { WorkingTree } from "../../git/working-tree.ts";
import { repositoryAt } from "../names/folder-place.ts";
import type { CheckedOut, FollowedState } from "../state/follow-store.ts";

/** What is checked out where a file stands. */
export async function checkedOutAt(standing: FileStanding): Promise<CheckedOut> {
  return await checkedOutOf(headOf(standing), {
    tree: treeOf(standing),
    isTracked: standing.kind !== "untracked",
  });
}

/**
 * What is checked out, in the form in which it is stored. A text that git does not track is of no
 * commit.
 */
export async function checkedOutOf(
  head: Head | undefined,
  {
    tree,
    isTracked,
    headEntry,
  }: {
    readonly tree: Pick<WorkingTree, "gitDir"> | undefined;
    readonly isTracked: boolean;
    readonly headEntry?: string | undefined;
  },
): Promise<CheckedOut> {
  if (!head) return { commit: undefined, head: undefined, headEntry, repository: undefined };
  return {
    commit: isTracked ? head.commit : undefined,
    head: `${head.branch ?? ""} ${head.commit ?? ""}`,
    headEntry,
    repository: tree && (await repositoryAt(tree.gitDir)),
  };
}

/** Whether anything was committed there. */
export function hadCommit({ head }: CheckedOut): boolean {
  return head !== undefined && !head.endsWith(" ");
}

function headOf(standing: FileStanding): Head | undefined {
  if (standing.kind === "untracked") return standing.head;
  return standing.kind === "tracked" ? standing : undefined;
}

function treeOf(standing: FileStanding): WorkingTree | undefined {
  return "file" in standing ? standing.file.tree : undefined;
}

/** Whether another branch or commit is checked out than where the file was last seen. */
export function isElsewhere(
  known: Pick<FollowedState, "checkedOut"> | undefined,
  { head }: CheckedOut,
): boolean {
  return known !== undefined && known.checkedOut.head !== head;
}
