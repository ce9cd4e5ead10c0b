import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { WorkingTree } from "./working-tree.ts";

/** Whether another process is about to change what a working tree has checked out. */
export type FindGitProcess = (tree: WorkingTree) => Promise<boolean>;

/** git commands that create or remove files. The rest only reads, perhaps for hours. */
const BRINGING: ReadonlySet<string> = new Set([
  ...["am", "apply", "bisect", "checkout", "cherry-pick", "clone", "fetch", "merge", "pull"],
  ...["read-tree", "rebase", "reset", "restore", "revert", "sparse-checkout", "stash"],
  ...["submodule", "switch", "worktree"],
]);

/** From the access modes in `open(2)`. */
const O_ACCMODE = 3;
const OCTAL = 8;

/**
 * Searches the processes that this user can inspect for one that has a file of the repository open
 * for writing, and for a git command that creates files in the tree. Between its steps, as while it
 * waits for a network, nothing else shows that git is at work. False where the system does not show
 * processes as files (`proc(5)`).
 */
export const findGitProcess: FindGitProcess = async (tree) => {
  if (process.platform !== "linux") return false;
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  for (const pid of pids) {
    if ((await bringsInto(pid, tree.root)) || (await writesInto(pid, tree))) return true;
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

async function writesInto(pid: string, { gitDir, commonDir }: WorkingTree): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => []);
  for (const each of descriptors) {
    const path = await readlink(join(folder, each)).catch(() => "");
    if (!isIn(path, gitDir) && !isIn(path, commonDir)) continue;
    const info = await readFile(`/proc/${pid}/fdinfo/${each}`, "utf8").catch(() => "");
    const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? "0", OCTAL);
    if ((flags & O_ACCMODE) !== 0) return true;
  }
  return false;
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
