import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { namesIn } from "./git-operation.ts";
import { BRANCHES, type Head, headSignature } from "./git-refs.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { WorkingTree } from "./working-tree.ts";

/** Why git may still be creating a working tree. */
export type Unmade =
  /** Some git holds a lock, or died while holding it. */
  | "locked"
  /** There is a commit, but nothing was checked out yet. */
  | "not-checked-out"
  /** There is no commit yet, and a remote is configured that may have some. */
  | "no-commit";

export type TreeMaking =
  | { readonly kind: "making"; readonly why: Unmade }
  /** `signature` changes whenever git has begun or done anything that could create files. */
  | { readonly kind: "made"; readonly signature: string };

/**
 * Whether git has finished creating a working tree. If a file is created in one that is being
 * cloned, pulled into or checked out for the first time, git refuses to continue, because it never
 * overwrites a file that it does not know.
 *
 * `git clone` creates the folder and names its remote. The rest stays as after `git init` until
 * everything has arrived; only then there is a branch that follows the remote, a commit, and last
 * an index. So without a commit, a remote means that commits may be on their way, unless the branch
 * follows it: that is the result of cloning an empty repository. `git pull URL` leaves a mark
 * before it connects. One git process without a commit, else none. Throws `GitTrouble`.
 */
export async function readTreeMaking(
  git: Git,
  tree: WorkingTree,
  head: Pick<Head, "branch" | "commit">,
): Promise<TreeMaking> {
  const own = await namesIn(tree.gitDir);
  const shared = tree.commonDir === tree.gitDir ? own : await namesIn(tree.commonDir);
  if ([...own, ...shared].some((name) => name.endsWith(".lock"))) return making("locked");
  if (!own.includes("index")) {
    if (head.commit !== undefined) return making("not-checked-out");
    const isFetching = own.includes("FETCH_HEAD");
    if (isFetching || (await mayBring(git, tree, head.branch))) return making("no-commit");
  }
  return { kind: "made", signature: await signatureOf(tree) };
}

function making(why: Unmade): TreeMaking {
  return { kind: "making", why };
}

/** Whether a remote is configured that the branch without a commit does not follow. */
async function mayBring(git: Git, tree: WorkingTree, branch: string | undefined) {
  const asked = ["config", "--get-regexp", "^(remote\\..*\\.url|branch\\..*\\.remote)$"];
  // Exit code 1: neither is set.
  const printed = await gitOutput(git, tree.root, { args: asked, absent: [1] });
  const keys = String(printed ?? "")
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "");
  const short = branch?.startsWith(BRANCHES) ? branch.slice(BRANCHES.length) : branch;
  if (short !== undefined && keys.includes(`branch.${short}.remote`)) return false;
  return keys.some((key) => key.startsWith("remote."));
}

/** The files that git changes when it fetches, checks out, commits or is configured. */
async function signatureOf(tree: WorkingTree): Promise<string> {
  const { gitDir, commonDir } = tree;
  const own = ["", "index", "FETCH_HEAD"].map((name) => join(gitDir, name));
  const shared = ["config", "packed-refs"].map((name) => join(commonDir, name));
  const parts = await Promise.all([...own, ...shared].map(partOf));
  return [await headSignature(tree), ...parts].join("\n");
}

async function partOf(path: string): Promise<string> {
  const stats = await lstat(path).catch(() => undefined);
  return stats === undefined ? "" : [stats.ino, stats.size, stats.mtimeMs].join(" ");
}
