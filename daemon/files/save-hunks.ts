import { commonLines, diffSections, type LineHunk } from "../../shared/replica/text/line-diff.ts";

/**
 * The change from `before` to `after` as hunks. Where the smallest change would find fewer of the
 * lines again that were there for longer, those are found first, and new ones only between them. A
 * block that others have just brought could pass else for one that the save has in common with it.
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

/** Indices of equal lines of both texts. */
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

/** `pairs` end with the ends of both texts. */
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
