import type { MergedLine, Side } from "./merged-lines.ts";

/** Lines in which some insertions are read as standing elsewhere; the text is the same. */
export interface SlidLines {
  readonly lines: readonly MergedLine[];
  /** The base's lines now read as a side's own, each with the equal line that is the base's now. */
  readonly swapped: ReadonlyMap<MergedLine, MergedLine>;
}

/** Lines [from, to), none of which is the base's. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/**
 * An insertion whose last line equals the base's line above it stands as well one line further up,
 * and so on; downwards likewise. Which of these places a diff takes depends on the text that it
 * starts from, so machines that come to one text in different steps may have taken different ones.
 *
 * Reads a run of one side as standing at the next place where the other side inserted something, if
 * that leaves more doubles, as told by `doublesIn`.
 */
export function slideRuns(
  lines: readonly MergedLine[],
  doublesIn: (lines: readonly MergedLine[]) => number,
): SlidLines {
  let slid: SlidLines = { lines, swapped: new Map() };
  for (let at = 0; at < lines.length; ) {
    const stretch = stretchFrom(slid.lines, at);
    const found = [slideUp(slid, stretch), slideDown(slid, stretch)].find((one) => {
      if (!one) return false;
      const { from, to } = one.joined;
      return doublesIn(one.slid.lines.slice(from, to)) > doublesIn(slid.lines.slice(from, to));
    });
    if (found) slid = found.slid;
    at = Math.max(stretch.to, found?.joined.to ?? 0) + 1;
  }
  return slid;
}

function stretchFrom(lines: readonly MergedLine[], at: number): Stretch {
  let from = at;
  while (lines[from]?.side === "base") from++;
  return { from, to: stretchEnd(lines, from) };
}

function stretchEnd(lines: readonly MergedLine[], from: number): number {
  let to = from;
  while ((lines[to]?.side ?? "base") !== "base") to++;
  return to;
}

function slideUp(slid: SlidLines, { from, to }: Stretch) {
  const { lines } = slid;
  let by = 0;
  while (by < to - from && isBase(lines[from - by - 1])) {
    if (lines[from - by - 1]?.text !== lines[to - by - 1]?.text) return undefined;
    by++;
  }
  let first = from - by;
  while (lines[first - 1] !== undefined && !isBase(lines[first - 1])) first--;
  if (by === 0 || !isOfOneSide(lines.slice(from, to))) return undefined;
  if (!meetsOther(lines.slice(first, from - by), lines[from])) return undefined;
  const joined = { from: first, to: to - by };
  return {
    joined,
    slid: swap(slid, from - by, { base: to - by, count: by, side: lines[from]?.side ?? "base" }),
  };
}

function slideDown(slid: SlidLines, { from, to }: Stretch) {
  const { lines } = slid;
  let by = 0;
  while (by < to - from && isBase(lines[to + by])) {
    if (lines[to + by]?.text !== lines[from + by]?.text) return undefined;
    by++;
  }
  if (by === 0 || !isOfOneSide(lines.slice(from, to))) return undefined;
  const end = stretchEnd(lines, to + by);
  if (!meetsOther(lines.slice(to + by, end), lines[from])) return undefined;
  const joined = { from: from + by, to: end };
  return {
    joined,
    slid: swap(slid, to, { base: from, count: by, side: lines[from]?.side ?? "base" }),
  };
}

function isBase(line: MergedLine | undefined): boolean {
  return line?.side === "base";
}

function isOfOneSide(lines: readonly MergedLine[]): boolean {
  return lines.every(({ side }) => side === lines[0]?.side);
}

function meetsOther(lines: readonly MergedLine[], line: MergedLine | undefined): boolean {
  return lines.some(({ side }) => side !== line?.side);
}

/**
 * Exchanges who wrote equal lines: `count` lines of the base from `own` on become the side's, and
 * the side's equal ones from `base` on the base's.
 */
function swap(
  { lines, swapped }: SlidLines,
  own: number,
  { base, count, side }: { readonly base: number; readonly count: number; readonly side: Side },
): SlidLines {
  const next = [...lines];
  const pairs = new Map(swapped);
  for (let i = 0; i < count; i++) {
    const [one, other] = [lines[own + i] as MergedLine, lines[base + i] as MergedLine];
    next[own + i] = { ...one, side };
    next[base + i] = { ...other, side: "base" };
    pairs.set(next[own + i] as MergedLine, next[base + i] as MergedLine);
  }
  return { lines: next, swapped: pairs };
}
