import type * as Y from "yjs";
import type { IdRanges } from "./id-ranges.ts";
import { hasWord } from "./line-diff.ts";
import { type MergedLine, readMergedText } from "./merged-lines.ts";
import { type RemovedText, wholeLines } from "./removed-text.ts";

/** Whose change it is. */
export type Writer = "mine" | "theirs";

/** What lines say that two sides took from where they stood, and that each put elsewhere. */
export type MovedLines = Readonly<Record<Writer, ReadonlySet<string>>>;

/** What two sides inserted, and what both deleted, as far as it is known what that said. */
interface MovingSides {
  readonly mine: IdRanges;
  readonly theirs: IdRanges;
  readonly both: IdRanges;
  readonly removed: readonly RemovedText[];
  /** What one side put there and is gone again: the other has cleaned up, say. */
  readonly vanished?: readonly RemovedText[];
}

/**
 * What both sides took away and one of them, or both, put elsewhere: before a clean-up takes those
 * away that both put at one place. Undefined where there is nothing.
 */
export function findMovedLines(ytext: Y.Text, sides: MovingSides): MovedLines | undefined {
  const { mine, theirs, removed, both, vanished = [] } = sides;
  const gone = [...wholeLines(removed, both)].filter(hasWord);
  if (gone.length === 0) return undefined;
  const { lines } = readMergedText(ytext, mine, theirs);
  const putBy = (by: Writer, also: ReadonlySet<string>) => {
    const put = new Set(lines.filter(({ side }) => side === by).map(({ text }) => text));
    return new Set(gone.filter((line) => put.has(line) || also.has(line)));
  };
  const moved = {
    mine: putBy("mine", wholeLines(vanished, mine)),
    theirs: putBy("theirs", wholeLines(vanished, theirs)),
  };
  return moved.mine.size + moved.theirs.size > 0 ? moved : undefined;
}

/** What one side moved and the other deleted. */
export function movedByOne({ mine, theirs }: MovedLines): MovedLines {
  return {
    mine: new Set([...mine].filter((line) => !theirs.has(line))),
    theirs: new Set([...theirs].filter((line) => !mine.has(line))),
  };
}

/** What both moved and stands at both places still. */
export function movedTwice(lines: readonly MergedLine[], { mine, theirs }: MovedLines): MovedLines {
  const standing = (by: Writer) =>
    new Set(lines.filter(({ side }) => side === by).map(({ text }) => text));
  const [byMe, byThem] = [standing("mine"), standing("theirs")];
  const twice = [...mine].filter((each) => theirs.has(each) && byMe.has(each) && byThem.has(each));
  return { mine: new Set(twice), theirs: new Set(twice) };
}

/**
 * Where a side put some of these lines: indices [first, end) of the merged text's lines. What has
 * no word between two of them is of their run.
 */
export function movedRuns(
  lines: readonly MergedLine[],
  by: Writer,
  meant: ReadonlySet<string>,
): [number, number][] {
  const runs: [number, number][] = [];
  if (meant.size === 0) return runs;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as MergedLine;
    if (line.side !== by || !meant.has(line.text)) continue;
    const last = runs.at(-1);
    const between = last && lines.slice(last[1], at);
    const isNext = between?.every(({ side, text }) => side === by && !hasWord(text));
    if (last && isNext) last[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  return runs;
}
