import type { Head } from "../git/git-refs.ts";
import type { FileStanding } from "../git/git-state.ts";
import type { WorkingTree } from "../git/working-tree.ts";
import type { CheckedOut } from "./follow-store.ts";
import { checkedOutOf } from "./tracked-sight.ts";

/** What is checked out where a file stands. */
export async function checkedOutAt(standing: FileStanding): Promise<CheckedOut> {
  return await checkedOutOf(headOf(standing), {
    tree: treeOf(standing),
    isTracked: standing.kind !== "untracked",
  });
}

function headOf(standing: FileStanding): Head | undefined {
  if (standing.kind === "untracked") return standing.head;
  return standing.kind === "tracked" ? standing : undefined;
}

function treeOf(standing: FileStanding): WorkingTree | undefined {
  return "file" in standing ? standing.file.tree : undefined;
}
