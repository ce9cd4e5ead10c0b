import { type Git, gitOutput } from "./run-git.ts";
import type { WorkingTree } from "./working-tree.ts";

/** The last commits that took files out of the folder. Those before are not looked at. */
const COMMITS_MAX = 5;
/** A folder that was renamed more often is not found. */
const STEPS_MAX = 5;

/**
 * Where the current commit has the folder that an earlier one had at `pathInside`, as git's own
 * renames of its files tell. Undefined where the folder is still there, was never there, or most of
 * its files went elsewhere or were deleted. Throws `GitTrouble`.
 */
export async function findRenamedFolder(
  git: Git,
  { root }: Pick<WorkingTree, "root">,
  pathInside: string,
): Promise<string | undefined> {
  const seen = new Set([pathInside]);
  let path = pathInside;
  while (seen.size <= STEPS_MAX + 1 && !(await isInHead(git, root, path))) {
    const next = await renamedOnce(git, root, path);
    if (next === undefined || seen.has(next)) return undefined;
    seen.add(next);
    path = next;
  }
  return path === pathInside || seen.size > STEPS_MAX + 1 ? undefined : path;
}

async function isInHead(git: Git, root: string, path: string): Promise<boolean> {
  const args = ["--literal-pathspecs", "ls-tree", "--name-only", "HEAD", path];
  return String(await gitOutput(git, root, { args })).trim() !== "";
}

async function renamedOnce(git: Git, root: string, path: string): Promise<string | undefined> {
  const log = ["log", `-${COMMITS_MAX}`, "--format=%H", "--no-renames", "--diff-filter=D", "HEAD"];
  const args = ["--literal-pathspecs", ...log, "--", path];
  const commits = String(await gitOutput(git, root, { args })).split("\n");
  const targets = new Map<string, number>();
  let left = 0;
  for (const commit of commits.filter((each) => each !== "")) {
    const diff = ["diff-tree", "-r", "-z", "-M", "--name-status", "--diff-filter=DR"];
    const printed = await gitOutput(git, root, { args: [...diff, "--no-commit-id", commit] });
    for (const { from, to } of changesIn(String(printed))) {
      if (!from.startsWith(`${path}/`)) continue;
      left++;
      const inside = from.slice(path.length);
      const target = to?.endsWith(inside) ? to.slice(0, -inside.length) : "";
      if (target !== "") targets.set(target, (targets.get(target) ?? 0) + 1);
    }
  }
  return [...targets].find(([, files]) => files > left / 2)?.[0];
}

/** What `--name-status -z` prints: `D`, a path; or `R` and how alike, and two paths. */
function changesIn(printed: string): { readonly from: string; readonly to: string | undefined }[] {
  const words = printed.split("\0");
  const changes: { from: string; to: string | undefined }[] = [];
  for (let at = 0; at + 1 < words.length; ) {
    const isRenamed = words[at]?.startsWith("R") === true;
    changes.push({ from: words[at + 1] ?? "", to: isRenamed ? words[at + 2] : undefined });
    at += isRenamed ? 3 : 2;
  }
  return changes;
}
