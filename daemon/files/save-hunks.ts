import { commonLines, diffSections, type LineHunk } from "../../shared/replica/text/line-diff.ts";

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
  return diffSections(before, after);
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
