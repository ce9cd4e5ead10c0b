import { isDeepStrictEqual } from "node:util";
import { headingsIn } from "../../shared/replica/text/headings.ts";
import { commonLines, diffSections, type LineHunk } from "../../shared/replica/text/line-diff.ts";
import { codeLinesIn, isBlank } from "./line-runs.ts";

/**
 * The difference between `before` and `after` as hunks. Prefers a difference that keeps as many of
 * the old lines as possible, and matches new ones only between those. The smallest difference could
 * match a block that others have just brought with one that the save has anyway.
 */
export function saveHunks(
  before: readonly string[],
  after: readonly string[],
  isNew: (at: number) => boolean,
): LineHunk[] {
  const old = before.flatMap((_, at) => (isNew(at) ? [] : [at]));
  const anchors = commonLines(
    old.map((at) => before[at] as string),
    after,
  ).map(([at, twin]): Pair => [old[at] as number, twin]);
  const plain = commonLines(before, after);
  if (plain.filter(([at]) => !isNew(at)).length < anchors.length) {
    return hunksBetween(withNew(before, after, anchors));
  }
  return diffSections(before, after).flatMap((hunk) => {
    return byParagraphs(before, after, { hunk, isNew });
  });
}

/**
 * A heading that others changed and the line above it that the save changed are two changes, though
 * only a blank line is between them: where a hunk has as many paragraphs, parted alike, on both
 * sides, with headings at the same places, each is a hunk of its own. What is left out of one says
 * nothing of the others. Without a heading nothing tells which paragraph is which, and a block of
 * code is never cut. A section that the save or others wrote anew, heading and all, is one change.
 */
function byParagraphs(
  before: readonly string[],
  after: readonly string[],
  { hunk, isNew }: { readonly hunk: LineHunk; readonly isNew: (at: number) => boolean },
): LineHunk[] {
  const { at, removed, from, added } = hunk;
  const [old, young] = [before.slice(at, at + removed), after.slice(from, from + added)];
  if (codeLinesIn(old).size + codeLinesIn(young).size > 0) return [hunk];
  const [was, is] = [paragraphsOf(old), paragraphsOf(young)];
  if (was.length < 2 || !isDeepStrictEqual(gapsOf(was), gapsOf(is))) return [hunk];
  const [heads, others] = [headsOf(old, was), headsOf(young, is)];
  if (!heads.includes(true) || !isDeepStrictEqual(heads, others)) return [hunk];
  const isOthers = was.map(([first, end]) =>
    old.slice(first, end).some((_, nth) => isNew(at + first + nth)),
  );
  if (isOthers.every((is) => is) || heads.some((is, nth) => is && !isOthers[nth])) return [hunk];
  return was.map(([first, end], nth): LineHunk => {
    const [start, stop] = is[nth] as Stretch;
    return { at: at + first, removed: end - first, from: from + start, added: stop - start };
  });
}

/** Lines [first, end) with text, between blank ones. */
type Stretch = readonly [first: number, end: number];

function paragraphsOf(lines: readonly string[]): Stretch[] {
  const found: [number, number][] = [];
  for (const [at, line] of lines.entries()) {
    if (isBlank(line)) continue;
    const last = found.at(-1);
    if (last?.[1] === at) last[1] = at + 1;
    else found.push([at, at + 1]);
  }
  return found;
}

/** Which of them begin with a heading. */
function headsOf(lines: readonly string[], paragraphs: readonly Stretch[]): boolean[] {
  const headings = headingsIn(lines);
  return paragraphs.map(([first]) => headings.has(first));
}

/** How many blank lines are before each. */
function gapsOf(paragraphs: readonly Stretch[]): number[] {
  return paragraphs.map(([first], nth) => first - (paragraphs[nth - 1]?.[1] ?? 0));
}

/** The indices of two equal lines. */
type Pair = readonly [number, number];

function withNew(before: readonly string[], after: readonly string[], anchors: readonly Pair[]) {
  const pairs: Pair[] = [];
  let [from, twinFrom] = [0, 0];
  for (const [to, twinTo] of [...anchors, [before.length, after.length] as const]) {
    const between = commonLines(before.slice(from, to), after.slice(twinFrom, twinTo));
    for (const [at, twin] of between) pairs.push([from + at, twinFrom + twin]);
    pairs.push([to, twinTo]);
    [from, twinFrom] = [to + 1, twinTo + 1];
  }
  return pairs;
}

/** The last pair is the end of both texts. */
function hunksBetween(pairs: readonly Pair[]): LineHunk[] {
  const hunks: LineHunk[] = [];
  let [at, from] = [0, 0];
  for (const [to, twin] of pairs) {
    const [removed, added] = [to - at, twin - from];
    if (removed + added > 0) hunks.push({ at, removed, from, added });
    [at, from] = [to + 1, twin + 1];
  }
  return hunks;
}
