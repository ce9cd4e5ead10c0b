import { isTelling, lineAhead, neighbourStart } from "../text/neighbour-lines.ts";
import type { Followed } from "./followed-moves.ts";
import { blanksAfter, type KeptEdit, type MovedTwice } from "./kept-edits.ts";
import type { WritingSide } from "./moved-lines.ts";
import type { SideLine } from "./side-lines.ts";

/** What has to be told of lines that the merge will put elsewhere than where a side wrote them. */
export interface CarriedLines {
  /** Lines that one side took from elsewhere, where the other side deleted them. */
  readonly edits: readonly KeptEdit[];
  /** Lines that both sides took from there, and that the other side put at another place. */
  readonly twice: MovedTwice | undefined;
}

/**
 * Finds what has to be told of lines before the merge puts them elsewhere, because nothing says
 * afterwards who wrote them. These are lines that both sides took from where they stood, and that
 * one side or both put elsewhere.
 */
export function findCarriedLines(
  lines: readonly SideLine[],
  moves: readonly Followed[],
): CarriedLines {
  const gone = new Set(
    lines.flatMap(({ side, gone: { mine, theirs }, text }) => {
      return side === "base" && mine && theirs && isTelling(text) ? [text] : [];
    }),
  );
  if (gone.size === 0) return { edits: [], twice: undefined };
  const after = afterMoves(lines, moves);
  const carried = new Set(moves.flatMap((move) => move.lines.filter(({ text }) => gone.has(text))));
  const isTwice = ({ side, text }: SideLine) => {
    const other = side === "mine" ? "theirs" : "mine";
    return after.some((each) => each.side === other && each.text === text);
  };
  const twins = new Set([...carried].filter(isTwice).map(({ text }) => text));
  const editsOf = (by: WritingSide, isMeant: (line: SideLine) => boolean) => {
    return runsOf(after, (line) => line.side === by && isMeant(line)).map((run) => {
      return editOf(after, run, by);
    });
  };
  const isAlone = (line: SideLine) => carried.has(line) && !twins.has(line.text);
  const isTwin = ({ text }: SideLine) => twins.has(text);
  return {
    edits: [...editsOf("mine", isAlone), ...editsOf("theirs", isAlone)],
    twice:
      twins.size > 0
        ? { mine: editsOf("mine", isTwin), theirs: editsOf("theirs", isTwin) }
        : undefined,
  };
}

/** The stretches [first, end) of lines that are meant. */
function runsOf(lines: readonly SideLine[], isMeant: (line: SideLine) => boolean) {
  const runs: [first: number, end: number][] = [];
  for (const [at, line] of lines.entries()) {
    if (!isMeant(line)) continue;
    const last = runs.at(-1);
    if (last?.[1] === at) last[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  return runs;
}

/** The lines that stand, in the order in which they do after the moves. */
export function afterMoves(lines: readonly SideLine[], moves: readonly Followed[]): SideLine[] {
  const gone = new Set(moves.flatMap((move) => [...move.lines, ...move.replaced]));
  const left = lines.filter((line) => line.to > line.from);
  const put = (at: number) => moves.flatMap((move) => (move.at === at ? move.lines : []));
  const starts = new Set(left.map(({ from }) => from));
  const behind = moves.filter(({ at }) => !starts.has(at)).flatMap((move) => move.lines);
  return [
    ...left.flatMap((line) => [...put(line.from), ...(gone.has(line) ? [] : [line])]),
    ...behind,
  ];
}

export function editOf(
  after: readonly SideLine[],
  [first, end]: readonly [number, number],
  by: WritingSide,
): KeptEdit {
  const texts = after.map(({ text }) => (text.endsWith("\n") ? text : `${text}\n`));
  return {
    by,
    text: texts.slice(first, end).join(""),
    behind: texts.slice(neighbourStart(texts, first), first).join(""),
    ahead: lineAhead(texts, end),
    at: after[first]?.from ?? 0,
  };
}

/** The text that stands from the first to the last of these lines, with what is between them. */
export function standingEdit(
  lines: readonly SideLine[],
  meant: readonly SideLine[],
  by: WritingSide,
): { readonly edit: KeptEdit; readonly own: ReadonlySet<SideLine> } {
  const after = afterMoves(lines, []);
  const at = meant.map((line) => after.indexOf(line));
  const run = [Math.min(...at), Math.max(...at) + 1] as const;
  const texts = after.map(({ text }) => text);
  const edit = { ...editOf(after, run, by), after: blanksAfter(texts, run) };
  return { edit, own: new Set(after.slice(...run)) };
}
