import type * as Y from "yjs";
import { headingsIn } from "../text/headings.ts";
import { hasWord } from "../text/line-diff.ts";
import { DeltaBuilder } from "../text/text-delta.ts";
import type { WritingSide } from "./moved-lines.ts";
import { hunksOf, type SideHunk } from "./side-hunks.ts";
import type { SideLine } from "./side-lines.ts";

/** This many lines with a word show that a section was moved, and not written twice by chance. */
const WORDS_MIN = 2;

/** Lines that follow a moved section, and the lines that they replace there. */
export interface Followed {
  readonly lines: readonly SideLine[];
  readonly replaced: readonly SideLine[];
  /** Where they go, in the visible text. */
  readonly at: number;
}

/**
 * Finds lines that one side changed or added in a section that the other side moved. They go where
 * the section is now: left behind, they would stand alone, while the section has the lines that
 * they replaced. Only if all is certain: the section's lines stand in one run at one other place,
 * and the first side has not moved them, too. Either side may do it, with the same outcome. Lines
 * in `disputed`, the lines of open conflicts, stay.
 */
export function findFollowedMoves(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string>,
): Followed[] {
  return (["mine", "theirs"] as const).flatMap((mover) => findFollowed(lines, mover, disputed));
}

function findFollowed(
  lines: readonly SideLine[],
  mover: WritingSide,
  disputed: ReadonlySet<string>,
): Followed[] {
  const editor = mover === "mine" ? "theirs" : "mine";
  const runs = runsOf(lines, mover);
  if (runs.length === 0) return [];
  const written = new Set(lines.filter(({ side }) => side === editor).map(({ text }) => text));
  const base = lines.filter(({ side }) => side === "base");
  return hunksOf(lines, editor).flatMap((hunk) => {
    const isOpen = [...hunk.removed, ...hunk.added].some(({ text }) => disputed.has(said(text)));
    // If the side that edited lines has them elsewhere, too, both sides have moved them.
    const isMovedByBoth = hunk.removed.some(({ text }) => hasWord(text) && written.has(text));
    if (isOpen || isMovedByBoth || !hunk.added.some(({ text }) => hasWord(text))) return [];
    const elsewhere = runs.filter((run) => !isWrittenAnew(run, { lines, hunk, mover }));
    const found = elsewhere.flatMap((run) => placesIn(run, { base, hunk, mover }));
    const [place, ...others] = found;
    if (!place || others.length > 0) return [];
    return [{ ...place, lines: hunk.added }];
  });
}

/**
 * Whether the author of a run wrote the hunk's removed lines anew at their place, and did not move
 * them. So does whoever chooses a version of a conflict, or keeps both. The run then has all of
 * these lines, still where they stood, and besides them only new ones. Both sides have written what
 * is to stand there, and both stay.
 */
function isWrittenAnew(
  run: readonly SideLine[],
  {
    lines,
    hunk: { removed },
    mover,
  }: {
    readonly lines: readonly SideLine[];
    readonly hunk: SideHunk;
    readonly mover: WritingSide;
  },
): boolean {
  const isRemoved = (from: number) => removed.every(({ text }, i) => text === run[from + i]?.text);
  const first = run.findIndex((_, from) => isRemoved(from));
  const [start, former] = [run[first], removed[0]];
  if (start === undefined || former === undefined) return false;
  const taken = lines.filter(({ side, gone }) => side === "base" && gone[mover]);
  const texts = new Set(taken.map(({ text }) => text).filter(hasWord));
  const rest = [...run.slice(0, first), ...run.slice(first + removed.length)];
  if (rest.some(({ text }) => texts.has(text))) return false;
  const at = [lines.indexOf(start), lines.indexOf(former)];
  const between = lines.slice(Math.min(...at), Math.max(...at));
  return !between.some(({ side, gone }) => side === "base" && !gone[mover]);
}

function said(text: string): string {
  return text.replace(/\n$/, "");
}

/** The stretches of lines that a side wrote, and that stand one after the other in its version. */
function runsOf(lines: readonly SideLine[], by: WritingSide): SideLine[][] {
  const runs: SideLine[][] = [];
  let isNext = false;
  for (const line of lines) {
    if (line.side === by) {
      if (isNext) runs.at(-1)?.push(line);
      else runs.push([line]);
      isNext = true;
    } else if (line.side === "mixed" || (line.side === "base" && !line.gone[by])) isNext = false;
  }
  return runs;
}

/** Where in a run what a hunk took the place of stands, with the lines of the base around it. */
function placesIn(
  run: readonly SideLine[],
  {
    base,
    hunk: { removed, added, before, after },
    mover,
  }: { readonly base: readonly SideLine[]; readonly hunk: SideHunk; readonly mover: WritingSide },
): Omit<Followed, "lines">[] {
  const isMoved = (line: SideLine | undefined) => line?.side === "base" && line.gone[mover];
  const hasWords = removed.some(({ text }) => hasWord(text));
  if (!removed.every(isMoved)) return [];
  // Lines at the end of a list or a paragraph belong to it, whatever comes behind.
  const isEnd = isMoved(before) && hasWord(before?.text ?? "") && goesOn(added, after);
  if (!hasWords && !(isMoved(before) && (isMoved(after) || isEnd))) return [];
  // If nothing was removed, the line before is one that moved, so it is in the base.
  const first = removed[0] ? base.indexOf(removed[0]) : base.indexOf(before as SideLine) + 1;
  const end = first + removed.length;
  const places: Omit<Followed, "lines">[] = [];
  for (let at = 0; at + removed.length <= run.length; at++) {
    if (!removed.every(({ text }, i) => run[at + i]?.text === text)) continue;
    const isSame = (inBase: number, inRun: number) => {
      const line = base[inBase];
      return isMoved(line) && line?.text === run[inRun]?.text;
    };
    let [ahead, behind] = [0, 0];
    while (isSame(first - 1 - ahead, at - 1 - ahead)) ahead++;
    while (isSame(end + behind, at + removed.length + behind)) behind++;
    if (!hasWords && (ahead === 0 || (behind === 0 && !isEnd))) continue;
    const section = run.slice(at - ahead, at + removed.length + behind);
    if (section.filter(({ text }) => hasWord(text)).length < WORDS_MIN) continue;
    const replaced = run.slice(at, at + removed.length);
    places.push({ replaced, at: run[at]?.from ?? run[at - 1]?.to ?? 0 });
  }
  return places;
}

/** Whether lines go on with what is above them and end it: all say something, none is a heading. */
function goesOn(added: readonly SideLine[], after: SideLine | undefined): boolean {
  const texts = added.map(({ text }) => text);
  return texts.every(hasWord) && headingsIn(texts).size === 0 && !hasWord(after?.text ?? "");
}

/**
 * Makes the moves; either side makes the same ones. To be called before the clean-up, in its
 * transaction.
 */
export function makeMoves(ytext: Y.Text, moves: readonly Followed[]): void {
  if (moves.length === 0) return;
  const gone = moves.flatMap(({ lines, replaced }) => [...lines, ...replaced]);
  const edits = [
    ...moves.map(({ lines, at }) => ({
      at,
      insert: lines.map(({ text }) => text).join(""),
      to: at,
    })),
    ...gone.map(({ from, to }) => ({ at: from, insert: "", to })),
  ].sort((one, other) => one.at - other.at || one.to - other.to);
  const delta = new DeltaBuilder(ytext.toString());
  for (const { at, insert, to } of edits) {
    if (insert !== "") delta.insert(at, insert);
    else delta.delete(at, to - at);
  }
  // See `apply` in `doubles.ts`: else Yjs would give the document another client id.
  const transaction = ytext.doc?._transaction;
  if (transaction) transaction.local = true;
  ytext.applyDelta([...delta.finish()]);
}
