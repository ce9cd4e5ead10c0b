import { readFile, readlink } from "node:fs/promises";
import { otherProcesses, writesTo } from "../disk/open-to-write.ts";
import type { WorkingTree } from "./working-tree.ts";

/** Whether another process is about to change what a working tree has checked out. */
export type FindGitProcess = (tree: WorkingTree) => Promise<boolean>;

/** git commands that create or remove files. The rest only reads, perhaps for hours. */
const BRINGING: ReadonlySet<string> = new Set([
  ...["am", "apply", "bisect", "checkout", "cherry-pick", "clone", "fetch", "merge", "pull"],
  ...["read-tree", "rebase", "reset", "restore", "revert", "sparse-checkout", "stash"],
  ...["submodule", "switch", "worktree"],
]);

/**
 * Searches the processes that this user can inspect for one that has a file of the repository open
 * for writing, and for a git command that creates files in the tree. Between its steps, as while it
 * waits for a network, nothing else shows that git is at work. False where the system does not show
 * processes as files (`proc(5)`).
 */
export const findGitProcess: FindGitProcess = async ({ root, gitDir, commonDir }) => {
  const isGits = (path: string) => isIn(path, gitDir) || isIn(path, commonDir);
  for (const pid of await otherProcesses()) {
    if ((await bringsInto(pid, root)) || (await writesTo(pid, isGits))) return true;
  }
  return false;
};

async function bringsInto(pid: string, root: string): Promise<boolean> {
  const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  if (!/^git(\.exe)?$/.test(words[0]?.split("/").at(-1) ?? "")) return false;
  if (!words.some((word) => BRINGING.has(word))) return false;
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => "");
  return isIn(folder, root);
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
