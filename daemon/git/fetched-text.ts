import { readMadeHere } from "./branch-log.ts";
import { changesOf } from "./file-commits.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** git's exit code for an unknown commit. */
const FATAL = 128;

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
