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
  /** The lines that the other side has put in the place of lines of its own. */
  readonly mended: ReadonlySet<string>;
}

/**
 * Finds what stands of lines that this side has deleted: both sides read them from one commit, each
 * as characters of its own, and the other side's characters are still there, or what it has put in
 * their place, or the line where it has moved it. Nothing else would tell of that. Which of the
 * other's equal lines is meant is decided by its place. A line that this side has elsewhere now was
 * moved, and is left out, and so is one that it has mended: the clean-up tells what both wrote
 * there.
 */
export function findTakenBack(
  lines: readonly MergedLine[],
  { had, has, isRead, mended }: SinceRead,
): KeptEdit[] {
  const read = had.filter((line) => isOfSide(line, "base"));
  const texts = read.map(({ text }) => withoutMark(text).replace(/\n$/, ""));
  const isFewer = (said: string) => countOf(said, has) < countOf(said, texts);
  const standing = withoutDoubles(lines);
  const here = new PlacesOf(texts, has);
  const there = new PlacesOf(
    texts,
    standing.map(({ text }) => text),
  );
  const known = new Set([...texts, ...has]);
  const isNew = (said: string) => mended.has(said) && !(hasWord(said) && known.has(said));
  const meant = texts.flatMap((said, at) => {
    if (!read[at]?.gone.mine || !isFewer(said)) return [];
    const line = standing[there.placeOf(at) ?? -1];
    const isTheirs = line?.side === "theirs" && isRead(line);
    if (line) return isTheirs ? [line] : [];
    const isMendedHere = here.gapAt(at, has).some((each) => hasWord(each) && !texts.includes(each));
    if (isMendedHere || !hasWord(said)) return [];
    const moved = standing.filter((each) => each.side === "theirs" && each.text === said);
    if (moved.length > 0) return moved;
    const put = there.gapAt(at, standing);
    return put.filter(({ side, text }) => side === "theirs" && isNew(text));
  });
  return runsOf(standing, new Set(meant)).map((run) => keptEdit(standing, "theirs", run));
}

/** Where the lines of one text stand in another. */
class PlacesOf {
  readonly #pairs: readonly (readonly [number, number])[];
  readonly #places: ReadonlyMap<number, number>;

  constructor(before: readonly string[], after: readonly string[]) {
    this.#pairs = commonLines(before, after);
    this.#places = new Map(this.#pairs);
  }

  /** Undefined for a line that does not stand there. */
  placeOf(at: number): number | undefined {
    return this.#places.get(at);
  }

  /** What stands in the place of a line that does not. */
  gapAt<Line>(at: number, after: readonly Line[]): readonly Line[] {
    const [, before = -1] = this.#pairs.findLast(([each]) => each < at) ?? [];
    const [, behind = after.length] = this.#pairs.find(([each]) => each > at) ?? [];
    return after.slice(before + 1, behind);
  }
}

function countOf(line: string, all: readonly string[]): number {
  return all.filter((each) => each === line).length;
}

/** Until a clean-up, this side's own copies stand beside the other side's. */
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
