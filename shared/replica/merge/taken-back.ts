import { isFence } from "../text/code-blocks.ts";
import { commonLines, hasWord } from "../text/line-diff.ts";
import { withoutMark } from "../text/text-form.ts";
import { type KeptEdit, keptEdit } from "./kept-edits.ts";
import type { MergedLine } from "./merged-lines.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";

/** What this side had when it had read a commit, and what it has now. */
interface SinceRead {
  /** As `readSideLines` gives them: the base is the text at the commit. */
  readonly had: readonly SideLine[];
  readonly has: readonly string[];
  /** Whether the other side had a line of its own when it had read that commit. */
  readonly isRead: (line: MergedLine) => boolean;
}

/**
 * Finds lines that this side has deleted and that stand all the same: both sides read them from one
 * commit, each as characters of its own, and the other side's characters are still there. Nothing
 * else would tell of that. Which of the other's equal lines is meant is decided by its place. A
 * line that this side has elsewhere now was moved, and is left out.
 */
export function findTakenBack(
  lines: readonly MergedLine[],
  { had, has, isRead }: SinceRead,
): KeptEdit[] {
  const read = had.filter((line) => isOfSide(line, "base"));
  const texts = read.map(({ text }) => withoutMark(text).replace(/\n$/, ""));
  const isFewer = (said: string) => countOf(said, has) < countOf(said, texts);
  const standing = withoutDoubles(lines);
  const meant = commonLines(
    texts,
    standing.map(({ text }) => text),
  ).flatMap(([at, to]) => {
    const line = standing[to];
    const isTheirs = line?.side === "theirs" && isRead(line);
    return isTheirs && read[at]?.gone.mine && isFewer(line.text) ? [line] : [];
  });
  return runsOf(lines, new Set(meant)).map((run) => keptEdit(lines, "theirs", run));
}

function countOf(line: string, all: readonly string[]): number {
  return all.filter((each) => each === line).length;
}

/** Until they are cleaned up, this side's own copies stand beside the other's. */
function withoutDoubles(lines: readonly MergedLine[]): MergedLine[] {
  const theirs = new Set(lines.flatMap(({ side, text }) => (side === "theirs" ? [text] : [])));
  return lines.filter(({ side, text }) => side === "theirs" || !theirs.has(text));
}

/** Where these lines stand, [first, end), as far as any of a run says something. */
function runsOf(lines: readonly MergedLine[], meant: ReadonlySet<MergedLine>): [number, number][] {
  const runs: [number, number][] = [];
  for (const [at, line] of lines.entries()) {
    if (!meant.has(line)) continue;
    const last = runs.at(-1);
    if (last?.[1] === at) last[1]++;
    else runs.push([at, at + 1]);
  }
  return runs.filter(([first, end]) => {
    return lines.slice(first, end).some(({ text }) => hasWord(text) && !isFence(text));
  });
}
