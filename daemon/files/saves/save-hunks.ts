import { isDeepStrictEqual } from "node:util";
import { findCodeBlocks, isFence } from "../../../shared/replica/text/code-blocks.ts";
import { headingsIn } from "../../../shared/replica/text/headings.ts";
import {
  commonLines,
  diffSections,
  type LineHunk,
} from "../../../shared/replica/text/line-diff.ts";
import { isTelling } from "../../../shared/replica/text/neighbour-lines.ts";
import { codeLinesIn, indicesFrom, isBlank } from "../lines/line-runs.ts";

/**
 * The difference between `shown` and `after` as hunks. Prefers a difference that keeps as many of
 * the old lines as possible, and matches new ones only between those. The smallest difference could
 * match a block that others have just brought with one that the save has anyway.
 */
export function saveHunks(
  shown: readonly string[],
  after: readonly string[],
  isNew: (at: number) => boolean,
): LineHunk[] {
  const before = withOwnFences(shown, after, isNew);
  const old = before.flatMap((_, at) => (isNew(at) ? [] : [at]));
  const anchors = commonLines(
    old.map((at) => before[at] as string),
    after,
  ).map(([at, twin]): Pair => [old[at] as number, twin]);
  const plain = commonLines(before, after);
  const isTorn = plain.filter(([at]) => !isNew(at)).length < anchors.length;
  const hunks = isTorn
    ? hunksBetween(withNew(before, after, anchors))
    : diffSections(before, after);
  const isOwn = (at: number) => before[at] !== shown[at];
  return hunks
    .flatMap((hunk) => atFences(shown, after, { hunk, isOwn, isNew }))
    .flatMap((hunk) => aboveHeading(shown, after, { hunk, isNew }))
    .flatMap((hunk) => byParagraphs(shown, after, { hunk, isNew }));
}

/**
 * The lines. Those that begin or end a block which others have just brought, and of which the save
 * has nothing, are written so that they equal none of the save's, between which is another block.
 */
function withOwnFences(
  before: readonly string[],
  after: readonly string[],
  isNew: (at: number) => boolean,
): readonly string[] {
  const saved = new Set(after.filter(isTelling));
  const lines = [...before];
  for (const [from, to] of findCodeBlocks(before)) {
    const all = indicesFrom(from, to - from);
    if (!all.every(isNew) || all.some((at) => saved.has(before[at] as string))) continue;
    for (const at of [from, to - 1]) lines[at] = `${before[at]}\n`;
  }
  return lines;
}

/**
 * A line that begins or ends a block of code parts what is in the block from what is not. So where
 * the save has as many other ones in the place of such lines, each is a hunk of its own, as is what
 * stands between them. `isOwn`: whether a line is of a block of which the save has nothing.
 */
function atFences(
  before: readonly string[],
  after: readonly string[],
  {
    hunk,
    isOwn,
    isNew,
  }: {
    readonly hunk: LineHunk;
    readonly isOwn: (at: number) => boolean;
    readonly isNew: (at: number) => boolean;
  },
): LineHunk[] {
  const { at, removed, from, added } = hunk;
  const old = indicesFrom(at, removed).filter(
    (each) => isFence(before[each] ?? "") && !isOwn(each),
  );
  const young = indicesFrom(from, added).filter((each) => isFence(after[each] ?? ""));
  if (old.length !== young.length) return [hunk];
  const parts: LineHunk[] = [];
  let [next, twin] = [at, from];
  for (const [nth, fence] of [...old, at + removed].entries()) {
    const other = young[nth] ?? from + added;
    parts.push({ at: next, removed: fence - next, from: twin, added: other - twin });
    // Where nothing above it may stay, it goes where any line does: no line of another side comes
    // between.
    const inPlace = indicesFrom(at, fence - at).some(isNew);
    if (nth < old.length) parts.push({ at: fence, removed: 1, from: other, added: 1, inPlace });
    [next, twin] = [fence + 1, other + 1];
  }
  return parts.filter((part) => part.removed + part.added > 0);
}

/**
 * What others wrote right above a heading, at the end of the section before, and the new name that
 * the save has for that heading are two changes. A section that others wrote there may be what was
 * renamed.
 */
function aboveHeading(
  before: readonly string[],
  after: readonly string[],
  { hunk, isNew }: { readonly hunk: LineHunk; readonly isNew: (at: number) => boolean },
): LineHunk[] {
  const { at, removed, from, added } = hunk;
  const [old, young] = [before.slice(at, at + removed), after.slice(from, from + added)];
  const above = old.findIndex((_, nth) => !isNew(at + nth));
  const named = indicesFrom(above, removed - above);
  if (above < 1 || named.some((nth) => isNew(at + nth))) return [hunk];
  const [first = -1, ...others] = headingsIn(old).keys();
  const heads = headingsIn(young);
  if (first !== above || !heads.has(0) || heads.size !== 1 + others.length) return [hunk];
  return [
    { at, removed: above, from, added: 0 },
    { at: at + above, removed: removed - above, from, added, inPlace: true },
  ];
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
