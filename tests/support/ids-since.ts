import type { IdRanges } from "../../shared/replica/text/id-ranges.ts";

/** The ids that a document has at state vector `after` and had not at `before`. */
export function idsSince(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
): IdRanges {
  const ranges = new Map<number, [number, number][]>();
  for (const [client, to] of after) {
    const from = before.get(client) ?? 0;
    if (from < to) ranges.set(client, [[from, to]]);
  }
  return ranges;
}
