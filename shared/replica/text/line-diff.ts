import { ITEMS_PER_STEP, inOneTurn, type Steps } from "../../steps.ts";
import { findCodeBlocks, isFence } from "./code-blocks.ts";
import { equalRuns } from "./equal-runs.ts";

/** Whether a line has a letter or a digit, so that it is unlikely to occur twice by accident. */
export function hasWord(line: string): boolean {
  return /[\p{L}\p{N}]/u.test(line);
}

/** `removed` lines of the old text at `at` become `added` lines of the new text at `from`. */
export interface LineHunk {
  readonly at: number;
  readonly removed: number;
  readonly from: number;
  readonly added: number;
  /**
   * The new lines go where the last of the old ones was, and not behind what is before the first:
   * others may have written in between.
   */
  readonly inPlace?: boolean;
}

/**
 * After this many changed lines a diff stops looking for the smallest edit and takes the rest as
 * one changed block. A limit on work, not time, so that every machine gets the same result.
 */
const EDIT_LENGTH_MAX = 1500;

/**
 * The difference between `before` and `after` as hunks in ascending order. The same input gives the
 * same hunks everywhere. A hunk that could be moved over equal lines is where git's diff puts it.
 * So two machines that make the same change get the same hunk.
 */
export function diffLines(before: readonly string[], after: readonly string[]): LineHunk[] {
  return inOneTurn(diffLinesInSteps(before, after));
}

/** The same, step by step. */
export function* diffLinesInSteps(
  before: readonly string[],
  after: readonly string[],
): Steps<LineHunk[]> {
  const changes = yield* markChanges(before, after);
  const [old, young] = [
    { lines: before, changed: changes.before },
    { lines: after, changed: changes.after },
  ];
  yield* compact(old, young);
  yield* compact(young, old);
  return yield* hunksOf(changes);
}

/**
 * Like `diffLines`, but hunks that insert on both sides of a single blank line are joined. A
 * rewritten section has blank lines of its own: tied to the old ones, its paragraphs would be mixed
 * with those of another rewriting, which also removes the old blank lines.
 */
export function diffSections(before: readonly string[], after: readonly string[]): LineHunk[] {
  return inOneTurn(diffSectionsInSteps(before, after));
}

/** The same, step by step. */
export function* diffSectionsInSteps(
  before: readonly string[],
  after: readonly string[],
): Steps<LineHunk[]> {
  return joinHunks(yield* diffLinesInSteps(before, after), before);
}

/** A longest common subsequence: pairs of indices of equal lines, ascending on both sides. */
export function commonLines(
  before: readonly string[],
  after: readonly string[],
): (readonly [number, number])[] {
  const changes = inOneTurn(markChanges(before, after));
  const pairs: [number, number][] = [];
  let j = 0;
  for (const [i, removed] of changes.before.entries()) {
    if (removed) continue;
    while (changes.after[j]) j++;
    pairs.push([i, j++]);
  }
  return pairs;
}

/** For each line of one side, whether it is deleted or inserted. */
interface Changes {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

function* markChanges(before: readonly string[], after: readonly string[]): Steps<Changes> {
  const changes = { before: new Uint8Array(before.length), after: new Uint8Array(after.length) };
  let start = 0;
  let endBefore = before.length;
  let endAfter = after.length;
  while (start < endBefore && start < endAfter && before[start] === after[start]) {
    if (++start % ITEMS_PER_STEP === 0) yield;
  }
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore--;
    if (--endAfter % ITEMS_PER_STEP === 0) yield;
  }
  // A line that the other side lacks is certainly changed. Only the others need a search.
  const left = yield* candidates(before, start, {
    to: endBefore,
    other: yield* setOf(after, start, endAfter),
  });
  const right = yield* candidates(after, start, {
    to: endAfter,
    other: yield* setOf(before, start, endBefore),
  });
  changes.before.fill(1, start, endBefore);
  changes.after.fill(1, start, endAfter);
  const pairs = yield* commonPairs({ lines: before, at: left }, { lines: after, at: right });
  for (const [i, j] of pairs) {
    changes.before[i] = 0;
    changes.after[j] = 0;
  }
  return changes;
}

function* setOf(lines: readonly string[], from: number, to: number): Steps<Set<string>> {
  const found = new Set<string>();
  for (let i = from; i < to; i++) {
    found.add(lines[i] as string);
    if (i % ITEMS_PER_STEP === 0) yield;
  }
  return found;
}

function* candidates(
  lines: readonly string[],
  from: number,
  { to, other }: { readonly to: number; readonly other: Set<string> },
): Steps<number[]> {
  const found: number[] = [];
  for (let i = from; i < to; i++) {
    if (other.has(lines[i] as string)) found.push(i);
    if (i % ITEMS_PER_STEP === 0) yield;
  }
  return found;
}

/** Some lines of one side, in order. */
interface Chosen {
  readonly lines: readonly string[];
  readonly at: readonly number[];
}

/**
 * Matches common lines with a word first, and others only between those. Fences, rules and blank
 * lines are alike in every section and more frequent than words: of two sections that change
 * places, one would get the other's fences.
 */
function* commonPairs(left: Chosen, right: Chosen): Steps<[number, number][]> {
  const [one, other] = [yield* partBySaid(left), yield* partBySaid(right)];
  const anchors = yield* pairsOf(one.said, other.said);
  const pairs: [number, number][] = [];
  let [l, r] = [0, 0];
  for (const [i, j] of [...anchors, [left.lines.length, right.lines.length] as const]) {
    const [fromLeft, fromRight] = [l, r];
    while ((one.unsaid.at[l] ?? i) < i) l++;
    while ((other.unsaid.at[r] ?? j) < j) r++;
    for (const pair of yield* pairsOf(
      { ...left, at: one.unsaid.at.slice(fromLeft, l) },
      { ...right, at: other.unsaid.at.slice(fromRight, r) },
    ))
      pairs.push(pair);
    if (i < left.lines.length) pairs.push([i, j]);
    if (pairs.length % ITEMS_PER_STEP === 0) yield;
  }
  return pairs;
}

function* partBySaid({ lines, at }: Chosen): Steps<{ said: Chosen; unsaid: Chosen }> {
  const isSaid = (lines: readonly string[]) => (at: number) => hasWord(lines[at] as string);
  const [said, unsaid]: [number[], number[]] = [[], []];
  const isOne = isSaid(lines);
  for (const [count, each] of at.entries()) {
    (isOne(each) ? said : unsaid).push(each);
    if (count % ITEMS_PER_STEP === 0) yield;
  }
  return { said: { lines, at: said }, unsaid: { lines, at: unsaid } };
}

function* pairsOf(left: Chosen, right: Chosen): Steps<[number, number][]> {
  const pairs: [number, number][] = [];
  if (left.at.length === 0 || right.at.length === 0) return pairs;
  const textsOf = ({ lines, at }: Chosen) => at.map((i) => lines[i] as string);
  for (const run of yield* equalRuns(textsOf(left), textsOf(right), EDIT_LENGTH_MAX)) {
    for (let n = 0; n < run.count; n++) {
      pairs.push([left.at[run.at + n] as number, right.at[run.from + n] as number]);
      if (pairs.length % ITEMS_PER_STEP === 0) yield;
    }
  }
  return pairs;
}

/** One side of a diff while its hunks are moved. */
interface Side {
  readonly lines: readonly string[];
  readonly changed: Uint8Array;
}

/** A maximal run of changed lines, possibly empty. There is one between any two unchanged lines. */
interface Group {
  start: number;
  end: number;
}

/**
 * Moves each run of changed lines as far down as equal lines allow, or to the last place where the
 * other side changed, too. This is `xdl_change_compact` of git's xdiff, without its heuristics, but
 * for one: a run with whole blocks of code goes where it cuts none. A block written above another
 * one is no part of both.
 */
function* compact(side: Side, other: Side): Steps<void> {
  const group = firstGroup(side);
  const beside = firstGroup(other);
  let count = 0;
  do {
    if (group.end > group.start) yield* slide(side, group, { other, beside });
    nextGroup(other, beside);
    if (++count % ITEMS_PER_STEP === 0) yield;
  } while (nextGroup(side, group));
}

/** Moves one run, and `beside` with it: the place of the other side that is next to it. */
function* slide(
  side: Side,
  group: Group,
  { other, beside }: { readonly other: Side; readonly beside: Group },
): Steps<void> {
  let count = 0;
  let matching: boolean;
  let earliestEnd: number;
  let size: number;
  do {
    size = group.end - group.start;
    while (slideUp(side, group)) {
      previousGroup(other, beside);
      if (++count % ITEMS_PER_STEP === 0) yield;
    }
    earliestEnd = group.end;
    matching = beside.end > beside.start;
    while (slideDown(side, group)) {
      nextGroup(other, beside);
      if (beside.end > beside.start) matching = true;
      if (++count % ITEMS_PER_STEP === 0) yield;
    }
  } while (size !== group.end - group.start);
  if (group.end === earliestEnd) return;
  const up = matching ? 0 : stepsToWhole(side, group, earliestEnd);
  for (let n = 0; matching ? beside.end === beside.start : n < up; n++) {
    slideUp(side, group);
    previousGroup(other, beside);
    if (++count % ITEMS_PER_STEP === 0) yield;
  }
}

/** How far up a run is nearest that neither begins nor ends inside a block of code, or 0. */
function stepsToWhole({ lines }: Side, { start, end }: Group, earliestEnd: number): number {
  if (!lines.slice(start, end).some(isFence)) return 0;
  const blocks = findCodeBlocks(lines);
  const isInside = (at: number) => blocks.some(([from, to]) => from < at && at < to);
  for (let up = 0; up <= end - earliestEnd; up++) {
    if (!isInside(start - up) && !isInside(end - up)) return up;
  }
  return 0;
}

function firstGroup(side: Side): Group {
  const group = { start: 0, end: 0 };
  while (side.changed[group.end]) group.end++;
  return group;
}

function nextGroup(side: Side, group: Group): boolean {
  if (group.end === side.lines.length) return false;
  group.start = group.end + 1;
  group.end = group.start;
  while (side.changed[group.end]) group.end++;
  return true;
}

function previousGroup(side: Side, group: Group): void {
  group.end = group.start - 1;
  group.start = group.end;
  while (side.changed[group.start - 1]) group.start--;
}

function slideUp(side: Side, group: Group): boolean {
  if (group.start === 0 || side.lines[group.start - 1] !== side.lines[group.end - 1]) return false;
  side.changed[--group.start] = 1;
  side.changed[--group.end] = 0;
  while (side.changed[group.start - 1]) group.start--;
  return true;
}

function slideDown(side: Side, group: Group): boolean {
  const { lines, changed } = side;
  if (group.end === lines.length || lines[group.start] !== lines[group.end]) return false;
  changed[group.start++] = 0;
  changed[group.end++] = 1;
  while (changed[group.end]) group.end++;
  return true;
}

function* hunksOf(changes: Changes): Steps<LineHunk[]> {
  const hunks: LineHunk[] = [];
  let at = 0;
  let from = 0;
  while (at < changes.before.length || from < changes.after.length) {
    const hunk = { at, from, removed: 0, added: 0 };
    while (changes.before[at + hunk.removed]) hunk.removed++;
    while (changes.after[from + hunk.added]) hunk.added++;
    if (hunk.removed + hunk.added > 0) hunks.push(hunk);
    at += hunk.removed + 1;
    from += hunk.added + 1;
    if (at % ITEMS_PER_STEP === 0) yield;
  }
  return hunks;
}

function joinHunks(hunks: readonly LineHunk[], before: readonly string[]): LineHunk[] {
  const joined: LineHunk[] = [];
  for (const hunk of hunks) {
    const last = joined.at(-1);
    const gap = last && before.slice(last.at + last.removed, hunk.at);
    const pinned = gap?.length === 1 && gap[0]?.trim() === "" && hunk.added > 0;
    if (last !== undefined && last.added > 0 && pinned) {
      joined[joined.length - 1] = {
        at: last.at,
        removed: hunk.at + hunk.removed - last.at,
        from: last.from,
        added: hunk.from + hunk.added - last.from,
      };
    } else {
      joined.push(hunk);
    }
  }
  return joined;
}
