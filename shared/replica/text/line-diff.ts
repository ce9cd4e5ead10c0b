import { diffArrays } from "diff";

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
  const changes = markChanges(before, after);
  compact({ lines: before, changed: changes.before }, { lines: after, changed: changes.after });
  compact({ lines: after, changed: changes.after }, { lines: before, changed: changes.before });
  return hunksOf(changes);
}

/**
 * Like `diffLines`, but hunks that insert on both sides of a single blank line are joined. A
 * rewritten section has blank lines of its own: tied to the old ones, its paragraphs would be mixed
 * with those of another rewriting, which also removes the old blank lines.
 */
export function diffSections(before: readonly string[], after: readonly string[]): LineHunk[] {
  return joinHunks(diffLines(before, after), before);
}

/** A longest common subsequence: pairs of indices of equal lines, ascending on both sides. */
export function commonLines(
  before: readonly string[],
  after: readonly string[],
): (readonly [number, number])[] {
  const changes = markChanges(before, after);
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

function markChanges(before: readonly string[], after: readonly string[]): Changes {
  const changes = { before: new Uint8Array(before.length), after: new Uint8Array(after.length) };
  let start = 0;
  let endBefore = before.length;
  let endAfter = after.length;
  while (start < endBefore && start < endAfter && before[start] === after[start]) start++;
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore--;
    endAfter--;
  }
  // A line that the other side lacks is certainly changed. Only the others need a search.
  const left = candidates(before, start, {
    to: endBefore,
    other: new Set(after.slice(start, endAfter)),
  });
  const right = candidates(after, start, {
    to: endAfter,
    other: new Set(before.slice(start, endBefore)),
  });
  changes.before.fill(1, start, endBefore);
  changes.after.fill(1, start, endAfter);
  for (const [i, j] of commonPairs(before, left, { after, right })) {
    changes.before[i] = 0;
    changes.after[j] = 0;
  }
  return changes;
}

function candidates(
  lines: readonly string[],
  from: number,
  { to, other }: { readonly to: number; readonly other: Set<string> },
) {
  const found: number[] = [];
  for (let i = from; i < to; i++) if (other.has(lines[i] as string)) found.push(i);
  return found;
}

/**
 * Matches common lines with a word first, and others only between those. Fences, rules and blank
 * lines are alike in every section and more frequent than words: of two sections that change
 * places, one would get the other's fences.
 */
function commonPairs(
  before: readonly string[],
  left: readonly number[],
  { after, right }: { readonly after: readonly string[]; readonly right: readonly number[] },
): [number, number][] {
  const isSaid = (lines: readonly string[]) => (at: number) => hasWord(lines[at] as string);
  const anchors = pairsOf(before, left.filter(isSaid(before)), {
    after,
    right: right.filter(isSaid(after)),
  });
  const pairs: [number, number][] = [];
  let [l, r] = [0, 0];
  for (const [i, j] of [...anchors, [before.length, after.length] as const]) {
    const [unsaidLeft, unsaidRight]: [number[], number[]] = [[], []];
    for (; l < left.length && (left[l] as number) < i; l++) {
      if (!isSaid(before)(left[l] as number)) unsaidLeft.push(left[l] as number);
    }
    for (; r < right.length && (right[r] as number) < j; r++) {
      if (!isSaid(after)(right[r] as number)) unsaidRight.push(right[r] as number);
    }
    pairs.push(...pairsOf(before, unsaidLeft, { after, right: unsaidRight }));
    if (i < before.length) pairs.push([i, j]);
  }
  return pairs;
}

function pairsOf(
  before: readonly string[],
  left: readonly number[],
  { after, right }: { readonly after: readonly string[]; readonly right: readonly number[] },
): [number, number][] {
  if (left.length === 0 || right.length === 0) return [];
  const parts = diffArrays(
    left.map((i) => before[i] as string),
    right.map((j) => after[j] as string),
    { maxEditLength: EDIT_LENGTH_MAX },
  );
  const pairs: [number, number][] = [];
  let l = 0;
  let r = 0;
  for (const part of parts ?? []) {
    if (part.removed) l += part.count;
    else if (part.added) r += part.count;
    else
      for (let n = 0; n < part.count; n++) pairs.push([left[l++] as number, right[r++] as number]);
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
 * other side changed, too. This is `xdl_change_compact` of git's xdiff, without its heuristics.
 */
function compact(side: Side, other: Side): void {
  const group = firstGroup(side);
  const beside = firstGroup(other);
  do {
    if (group.end > group.start) slide(side, group, { other, beside });
    nextGroup(other, beside);
  } while (nextGroup(side, group));
}

/** Moves one run, and `beside` with it: the place of the other side that is next to it. */
function slide(
  side: Side,
  group: Group,
  { other, beside }: { readonly other: Side; readonly beside: Group },
): void {
  let matching: boolean;
  let earliestEnd: number;
  let size: number;
  do {
    size = group.end - group.start;
    while (slideUp(side, group)) previousGroup(other, beside);
    earliestEnd = group.end;
    matching = beside.end > beside.start;
    while (slideDown(side, group)) {
      nextGroup(other, beside);
      if (beside.end > beside.start) matching = true;
    }
  } while (size !== group.end - group.start);
  if (group.end === earliestEnd || !matching) return;
  while (beside.end === beside.start) {
    slideUp(side, group);
    previousGroup(other, beside);
  }
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

function hunksOf(changes: Changes): LineHunk[] {
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
