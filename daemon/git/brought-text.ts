import { readMadeHere, readSteps } from "./branch-log.ts";
import { changesOf } from "./file-commits.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/**
 * Entries of HEAD's log for a commit of what stood in the working tree. What a merge or a
 * cherry-pick brings is committed by a person where git could not do all of it alone, perhaps in
 * another file.
 */
const MADE_THERE = /^commit(?! \((merge|cherry-pick)\))\b/;
/** Of more steps than this nothing is asked, and git counts as having brought the text. */
const STEPS_MAX = 30;
/** git's exit code for an unknown commit. */
const FATAL = 128;

/** Two commits: what is checked out, and what was when the file was read. */
interface Step {
  readonly read: string | undefined;
  readonly commit: string | undefined;
}

/**
 * Whether the text that is checked out came into the working tree by git, and not because somebody
 * had it there and committed it: by HEAD's own log, the step since `read` after which the file had
 * this text first. True also where no log tells. A git process, and one for each step.
 */
export async function isPutByGit(
  git: Git,
  file: PlacedFile,
  { read, commit }: Step,
): Promise<boolean> {
  const steps = await readSteps(git, file, read);
  const isKnown = commit !== undefined && steps[0]?.commit === commit;
  if (!isKnown || steps.length > STEPS_MAX) return true;
  const text = await blobAt(git, file, commit);
  for (const step of steps.toReversed()) {
    const isFirst = step.commit === commit || (await blobAt(git, file, step.commit)) === text;
    if (isFirst) return !MADE_THERE.test(step.subject);
  }
  return true;
}

/** A commit of others that was fetched, and where its branch left what is checked out. */
export interface Fetched {
  readonly commit: string;
  readonly base: string | undefined;
}

/**
 * The newest commit of others that changed the file, and that was fetched and is in no commit that
 * is checked out: what a person takes from there, as by `merge --squash`, is theirs. Up to three
 * git processes.
 */
export async function findFetched(
  git: Git,
  file: PlacedFile,
  head: string,
): Promise<Fetched | undefined> {
  const asked = { commits: ["--topo-order", "--remotes", `^${head}`], countMax: 1 };
  const [commit] = await changesOf(git, file, asked);
  if (commit === undefined || (await readMadeHere(git, file)).has(commit)) return undefined;
  const args = ["merge-base", head, commit];
  const base = String((await gitOutput(git, file.tree.root, { args, absent: [1, FATAL] })) ?? "");
  return { commit, base: base.trim() || undefined };
}

/** git's name of a file's text in a commit. */
async function blobAt(
  git: Git,
  { tree, pathInside }: PlacedFile,
  commit: string,
): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "-q", `${commit}:${pathInside}`];
  const printed = await gitOutput(git, tree.root, { args, absent: [1, FATAL] });
  return printed && String(printed).trim();
}
