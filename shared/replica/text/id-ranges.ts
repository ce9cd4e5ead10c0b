import * as Y from "yjs";

/** Ranges of ids: for each client, ascending ranges of clocks [from, to). */
export type IdRanges = ReadonlyMap<number, readonly (readonly [number, number])[]>;

/** The ids that are in both. */
export function intersection(one: IdRanges, other: IdRanges): IdRanges {
  const both = new Map<number, (readonly [number, number])[]>();
  for (const [client, ranges] of one) {
    const common = commonRanges(ranges, other.get(client) ?? []);
    if (common.length > 0) both.set(client, common);
  }
  return both;
}

function commonRanges(
  one: readonly (readonly [number, number])[],
  other: readonly (readonly [number, number])[],
): [number, number][] {
  const common: [number, number][] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    const [[from, to], [otherFrom, otherTo]] = [one[i] as Range, other[j] as Range];
    const [start, end] = [Math.max(from, otherFrom), Math.min(to, otherTo)];
    if (start < end) common.push([start, end]);
    if (to < otherTo) i++;
    else j++;
  }
  return common;
}

type Range = readonly [number, number];

/** The ids in the first that are not in the second. */
export function difference(one: IdRanges, other: IdRanges): IdRanges {
  const rest = new Map<number, Range[]>();
  for (const [client, ranges] of one) {
    const left = ranges.flatMap((range) => outside(range, other.get(client) ?? []));
    if (left.length > 0) rest.set(client, left);
  }
  return rest;
}

function outside([from, to]: Range, others: readonly Range[]): Range[] {
  const left: Range[] = [];
  let start = from;
  for (const [otherFrom, otherTo] of others) {
    if (otherTo <= start) continue;
    if (otherFrom >= to) break;
    if (otherFrom > start) left.push([start, otherFrom]);
    start = otherTo;
  }
  return start < to ? [...left, [start, to]] : left;
}

/** The ids that are in either. */
export function union(one: IdRanges, other: IdRanges): IdRanges {
  const all = new Map(one);
  for (const [client, ranges] of difference(other, one)) {
    const both = [...(one.get(client) ?? []), ...ranges];
    all.set(
      client,
      both.sort(([from], [start]) => from - start),
    );
  }
  return all;
}

/** Whether one of the ids of a range is among them. */
export function holdsAny(
  ranges: IdRanges,
  client: number,
  { clock, length }: { readonly clock: number; readonly length: number },
): boolean {
  return (ranges.get(client) ?? []).some(([from, to]) => from < clock + length && clock < to);
}

/** The ids that an update (v1) deletes, in texts and elsewhere. */
export function deletedIn(update: Uint8Array): IdRanges {
  const ranges = new Map<number, (readonly [number, number])[]>();
  for (const [client, deletes] of Y.decodeUpdate(update).ds.clients) {
    const sorted = deletes.map(({ clock, len }) => [clock, clock + len] as const);
    ranges.set(
      client,
      sorted.sort(([from], [other]) => from - other),
    );
  }
  return ranges;
}

/** The ids of all that an update (v1) brings, in texts and elsewhere. */
export function broughtIn(update: Uint8Array): IdRanges {
  const ranges = new Map<number, (readonly [number, number])[]>();
  for (const struct of Y.decodeUpdate(update).structs) {
    if (struct instanceof Y.Skip) continue;
    const { client, clock } = struct.id;
    const known = ranges.get(client) ?? [];
    known.push([clock, clock + struct.length]);
    ranges.set(client, known);
  }
  return ranges;
}
