import { changesOf, isAncestor } from "./file-commits.ts";
import { BRANCHES } from "./git-refs.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** How a branch came from one commit to another that does not descend from it. */
export type Passage =
  /** By commits, amendments and rebases of what was made here. */
  | { readonly kind: "went-on" }
  /** It was put at another commit since, and went on from there; undefined where no log says so. */
  | { readonly kind: "was-put"; readonly at: string | undefined };

interface LogEntry {
  readonly commit: string;
  /** What git did, in git's own words ("reflog subject" in git-reflog). */
  readonly subject: string;
}

/** So many entries of a log are looked at. */
const ENTRIES_MAX = 200;
/** A commit that takes others' place can take so many that changed one file. */
const DROPPED_MAX = 50;
/** There is no such log. */
const FATAL = 128;

/** Entries that go on from the commit before. */
const GOES_ON = /^(commit|rebase|pull|merge|cherry-pick|revert|am)\b/;
/** Of those, the ones that may leave out commits that were there. */
const REBASES = /^(rebase|pull)\b/;
/** Entries that name a commit which was made in this repository. */
const MADE =
  /^(commit|cherry-pick|revert|am)\b|\((pick|reword|edit|squash|fixup|continue)\)|: Merge made by/;

/**
 * How `branch` came to its commit since it stood at `read`, by its own log. A rebase is one of what
 * was made here; where it left out commits of others that changed the file, somebody has forced
 * another history upon them, and the branch was put there.
 */
export async function readPassage(
  git: Git,
  file: PlacedFile,
  { read, branch }: { readonly read: string; readonly branch: string | undefined },
): Promise<Passage> {
  if (branch === undefined) return { kind: "was-put", at: undefined };
  const entries = await readLog(git, file, BRANCHES + branch);
  for (const [at, { commit, subject }] of entries.entries()) {
    if (commit === read) return { kind: "went-on" };
    if (!GOES_ON.test(subject)) return { kind: "was-put", at: commit };
    const before = entries[at + 1]?.commit;
    if (before === undefined) break;
    const isRebased =
      REBASES.test(subject) && !(await isAncestor(git, file, { one: before, other: commit }));
    if (
      isRebased &&
      (await leavesOutOthers(git, file, { before, after: commit, ofBranch: entries }))
    ) {
      return { kind: "was-put", at: commit };
    }
  }
  return { kind: "was-put", at: undefined };
}

/** Whether some commit that changed the file, which `after` has not, was not made here. */
async function leavesOutOthers(
  git: Git,
  file: PlacedFile,
  {
    before,
    after,
    ofBranch,
  }: { readonly before: string; readonly after: string; readonly ofBranch: readonly LogEntry[] },
): Promise<boolean> {
  const left = await changesOf(git, file, {
    commits: [before, `^${after}`],
    countMax: DROPPED_MAX,
  });
  if (left.length === 0) return false;
  // The single commits of a rebase are in the log of HEAD alone.
  const entries = [...ofBranch, ...(await readLog(git, file, "HEAD"))];
  const made = entries.filter(({ subject }) => MADE.test(subject)).map(({ commit }) => commit);
  return !left.every((commit) => made.includes(commit));
}

/** The latest first. */
async function readLog(git: Git, { tree }: PlacedFile, ref: string): Promise<LogEntry[]> {
  const asked = ["log", "-g", "--format=%H%x09%gs", `--max-count=${ENTRIES_MAX}`, ref, "--"];
  const printed = await gitOutput(git, tree.root, { args: asked, absent: [FATAL] });
  return String(printed ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [commit = "", subject = ""] = line.split("\t");
      return { commit, subject };
    });
}
