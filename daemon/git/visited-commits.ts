import { COMMITS, GOES_ON, type LogEntry, readLastEntry, readLog } from "./branch-log.ts";
import { CommitMakers } from "./commit-makers.ts";
import { changesOf } from "./file-commits.ts";
import type { Git } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** The commits that were checked out since a file was read, and left again. */
export interface VisitedCommits {
  /** The latest first. */
  readonly commits: readonly string[];
  /** When the last of them was left, in milliseconds since the Unix epoch. */
  readonly leftAt: number;
  /** Something was committed after that. */
  readonly isCommittedSince: boolean;
}

/** Of more commits than this nobody asks what the file had there. */
const VISITED_MAX = 20;
/** Of more commits of the file than this nobody asks who made them. */
const CHANGES_MAX = 100;

/**
 * The latest entry of HEAD's log: another one with each commit that is checked out, also where HEAD
 * is back then. Undefined where git keeps no log. One git process.
 */
export async function readHeadEntry(git: Git, file: PlacedFile): Promise<string | undefined> {
  const entry = await readLastEntry(git, file);
  return entry && entryText(entry);
}

/** Two that are equal are of one second: a file is read once nothing has moved for that long. */
function entryText({ at, commit, subject }: LogEntry): string {
  return [at, commit, subject].join(" ");
}

/**
 * What was checked out after `since`, an entry that `readHeadEntry` gave, and left by a checkout or
 * a reset: not by going on from it. Undefined where there is none. One git process.
 */
export async function readVisited(
  git: Git,
  file: PlacedFile,
  since: string,
): Promise<VisitedCommits | undefined> {
  const entries = await readLog(git, file, "HEAD");
  const known = entries.findIndex((entry) => entryText(entry) === since);
  const news = known === -1 ? entries : entries.slice(0, known);
  const isLeft = ({ subject }: { readonly subject: string }) => !GOES_ON.test(subject);
  const lastAt = news.findIndex(isLeft);
  const last = news[lastAt];
  if (!last) return undefined;
  const left = entries.slice(1, news.findLastIndex(isLeft) + 2);
  const commits = [...new Set(left.map(({ commit }) => commit))];
  const isCommittedSince = news.slice(0, lastAt).some(({ subject }) => COMMITS.test(subject));
  return { commits: commits.slice(0, VISITED_MAX), leftAt: last.at, isCommittedSince };
}

/** Whether a person has made all here that one commit has of a file beyond another one. */
export async function isMadeHere(
  git: Git,
  file: PlacedFile,
  { from, to, branch }: { readonly from: string; readonly to: string; readonly branch: string },
): Promise<boolean> {
  const commits = ["--full-history", to, `^${from}`];
  const changes = await changesOf(git, file, { commits, countMax: CHANGES_MAX });
  const makers = await CommitMakers.read(git, file, { from, to, branch });
  return changes.length < CHANGES_MAX && changes.every((each) => makers.of(each) === "person");
}
