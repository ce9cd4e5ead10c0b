import { BRANCHES, commitsOf, ORIGIN_BRANCHES, type Refs, USUAL_DEFAULTS } from "./git-refs.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { WorkingTree } from "./working-tree.ts";

/**
 * Short name of the repository's default branch. The first of these that exists:
 *
 * 1. the branch that `origin/HEAD` points to;
 * 2. `main`, then `master`, here or on `origin`;
 * 3. only if no branch of a remote was ever fetched, since a clone of one branch looks the same:
 *    the branch named by git's `init.defaultBranch`, else the only branch, else, before the first
 *    commit, the branch that this commit will create.
 *
 * Undefined if none applies; then no working tree counts as being on the default branch. No git
 * process for the first two, at most two for the third. Throws `GitTrouble`.
 */
export async function defaultBranchOf(
  git: Git,
  tree: WorkingTree,
  refs: Refs,
): Promise<string | undefined> {
  if (refs.originHead?.startsWith(ORIGIN_BRANCHES)) {
    return refs.originHead.slice(ORIGIN_BRANCHES.length);
  }
  const usual = USUAL_DEFAULTS.find(
    (name) => refs.commits.has(BRANCHES + name) || refs.commits.has(ORIGIN_BRANCHES + name),
  );
  return usual ?? localDefault(git, tree, refs);
}

async function localDefault(git: Git, tree: WorkingTree, refs: Refs): Promise<string | undefined> {
  const asked = ["for-each-ref", "--format=%(refname)", BRANCHES, "refs/remotes/"];
  const names = String(await gitOutput(git, tree.root, { args: asked }))
    .split("\n")
    .slice(0, -1);
  if (names.some((name) => !name.startsWith(BRANCHES))) return undefined;
  const branches = names.map((name) => name.slice(BRANCHES.length));
  if (branches.length < 2) return branches[0] ?? refs.head.branch;
  // Exit code 1: not set.
  const configured = await gitOutput(git, tree.root, {
    args: ["config", "init.defaultBranch"],
    absent: [1],
  });
  const name = configured?.toString("utf8").trim();
  return name !== undefined && branches.includes(name) ? name : undefined;
}

/**
 * The commits at the tip of the default branch: here, then on `origin`; none without such a branch.
 * At most one git process, none where the branch was looked up already. Throws `GitTrouble`.
 */
export async function defaultCommitsOf(
  git: Git,
  tree: WorkingTree,
  { refs, defaultBranch }: { readonly refs: Refs; readonly defaultBranch: string | undefined },
): Promise<readonly string[]> {
  if (defaultBranch === undefined) return [];
  const names = [BRANCHES + defaultBranch, ORIGIN_BRANCHES + defaultBranch];
  const isUsual = USUAL_DEFAULTS.some((name) => name === defaultBranch);
  const commits = isUsual ? refs.commits : await commitsOf(git, tree, names);
  return names.map((name) => commits.get(name)).filter((commit) => commit !== undefined);
}
