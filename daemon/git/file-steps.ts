import { GOES_ON, type LogEntry, readHeadLog } from "./branch-log.ts";
import { changesOf } from "./file-commits.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/**
 * Who put a commit's text into a file: git, and what it brought was committed here (`own`) or by
 * others; or a person, who had it there and committed it.
 */
export type PutBy = "own" | "others" | "person";

/** A commit at which a file had another text than before. */
export interface FileStep {
  readonly commit: string;
  /** When it was made or checked out here; undefined where no log tells. */
  readonly at: number | undefined;
  readonly putBy: PutBy;
}

/** Two commits: what is checked out, and what was when the file was read. */
interface Step {
  readonly read: string | undefined;
  readonly commit: string | undefined;
}

/** What HEAD's log says of one way from commit to commit. */
interface Move extends LogEntry {
  readonly from: string | undefined;
  /** A rebase in which a person had to go on by hand. */
  readonly isHelped: boolean;
}

/** Entries for a commit of what stood in the working tree. */
const MADE_THERE = /^commit\b/;
/**
 * Those that a person has finished where git could not do all of it alone, perhaps in another file.
 */
const FINISHED = /^commit \((merge|cherry-pick)\)/;
/** Entries for a commit that has nothing which was not here before, but for others' commits. */
const MADE_HERE =
  /^(commit(?! \(cherry-pick\))|revert)\b|\((pick|reword|edit|squash|fixup|continue)\)|: Merge made/;
const BEGINS_REBASE = /^(rebase|pull)\b[^:]*\(start\)|^rebase: checkout /;
const GOES_ON_BY_HAND = /^(rebase|pull)\b[^:]*\(continue\)/;
const ENDS_REBASE = /^(rebase|pull)\b[^:]*\((finish|abort)\)|^rebase finished:/;

/** Of more steps than this only the last is told, as one of git's. */
const STEPS_MAX = 30;
/** Of more commits of the file than this nobody asks who made them. */
const CHANGES_MAX = 50;
/** git's exit code for an unknown commit. */
const FATAL = 128;

/**
 * The texts that a file had since `read`, by HEAD's own log, the oldest first: what looks would
 * have found. Where the log does not reach that far back, the last of them alone; where none tells,
 * that one is git's, and others'. `isMended`: git's marks stood in the file when it was read. Who
 * has settled them there has seen what git brought with them. A git process, one for each step, and
 * one more for each that git has made.
 */
export async function readFileSteps(
  git: Git,
  file: PlacedFile,
  { read, commit, isMended }: Step & { readonly isMended: boolean },
): Promise<FileStep[]> {
  if (commit === undefined) return [];
  const log = await readHeadLog(git, file);
  const readAt = log.findIndex((entry) => entry.commit === read);
  const moves = movesOf(readAt === -1 ? log : log.slice(0, readAt), read);
  const unknown: FileStep[] = [{ commit, at: undefined, putBy: "others" }];
  if (moves.at(-1)?.commit !== commit || moves.length > STEPS_MAX) return unknown;
  const made = new Set(log.filter(isOfHere).map((entry) => entry.commit));
  const steps: Move[] = [];
  let last = read && (await blobAt(git, file, read));
  for (const move of moves) {
    const blob = await blobAt(git, file, move.commit);
    if (blob !== last) steps.push(move);
    last = blob;
  }
  const told = readAt === -1 ? steps.slice(-1).map((step) => ({ ...step, from: read })) : steps;
  return await Promise.all(
    told.map(async (step, nth): Promise<FileStep> => {
      const isByPerson = isOfPerson(step, isMended && nth === 0);
      const { commit: to, at } = step;
      if (isByPerson) return { commit: to, at, putBy: "person" };
      const isMadeHere = await isOwn(git, file, { ...step, made });
      return { commit: to, at, putBy: isMadeHere ? "own" : "others" };
    }),
  );
}

function isOfHere({ subject }: LogEntry): boolean {
  return MADE_HERE.test(subject);
}

function isOfPerson({ subject, isHelped }: Move, isMended: boolean): boolean {
  if (isHelped || FINISHED.test(subject)) return isMended;
  return MADE_THERE.test(subject);
}

/**
 * What was done where the branch was put last, or checked out, the oldest first. A rebase counts as
 * its end: what is checked out meanwhile is nobody's text.
 */
function movesOf(entries: readonly LogEntry[], read: string | undefined): Move[] {
  const isPut = ({ commit, subject }: LogEntry, at: number) =>
    !GOES_ON.test(subject) && entries[at + 1]?.commit !== commit;
  const putAt = entries.findIndex(isPut);
  const way = (putAt === -1 ? entries : entries.slice(0, putAt + 1)).toReversed();
  const moves: Move[] = [];
  let from = read;
  let rebase: { isHelped: boolean } | undefined;
  for (const entry of way) {
    if (BEGINS_REBASE.test(entry.subject)) rebase = { isHelped: false };
    if (rebase && GOES_ON_BY_HAND.test(entry.subject)) rebase.isHelped = true;
    const isWithin = rebase !== undefined && !ENDS_REBASE.test(entry.subject);
    if (isWithin) continue;
    moves.push({ ...entry, from, isHelped: rebase?.isHelped === true });
    from = entry.commit;
    rebase = undefined;
  }
  return moves;
}

/** Whether git has brought only what was committed in this repository. */
async function isOwn(
  git: Git,
  file: PlacedFile,
  { from, commit, made }: Pick<Move, "from" | "commit"> & { readonly made: ReadonlySet<string> },
): Promise<boolean> {
  if (from === undefined) return false;
  const commits = ["--full-history", commit, `^${from}`];
  const changes = await changesOf(git, file, { commits, countMax: CHANGES_MAX });
  const isAll = changes.length > 0 && changes.length < CHANGES_MAX;
  return isAll && changes.every((each) => made.has(each));
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
