import { firstWhere } from "../../shared/replica/first-where.ts";
import type { IdRanges } from "../../shared/replica/doubles.ts";
import type { CapturedText } from "../../shared/replica/text.ts";

/** Where a version's characters come from; see `CapturedText`. */
type Spans = Pick<CapturedText, "spans">;

/** The characters of a text (the live one, say) that a version does not show. */
export function rangesOutside(text: Spans, version: Spans): IdRanges {
  const shown = new Map<number, [number, number][]>();
  for (const { client, clock, length } of version.spans) {
    if (client === null) continue;
    const ranges = shown.get(client) ?? [];
    ranges.push([clock, clock + length]);
    shown.set(client, ranges);
  }
  for (const ranges of shown.values()) ranges.sort(([one], [other]) => one - other);
  const outside = new Map<number, [number, number][]>();
  for (const { client, clock, length } of text.spans) {
    if (client === null) continue;
    const rest = subtract([clock, clock + length], shown.get(client) ?? []);
    if (rest.length > 0) outside.set(client, [...(outside.get(client) ?? []), ...rest]);
  }
  for (const ranges of outside.values()) ranges.sort(([one], [other]) => one - other);
  return outside;
}

/** What is left of a range without others, which are sorted. */
function subtract(
  [from, to]: readonly [number, number],
  others: readonly (readonly [number, number])[],
): [number, number][] {
  const rest: [number, number][] = [];
  let start = from;
  for (let at = firstWhere(others, ([, end]) => end > from); at < others.length; at++) {
    const [otherFrom, otherTo] = others[at] as readonly [number, number];
    if (otherFrom >= to) break;
    if (otherFrom > start) rest.push([start, otherFrom]);
    start = Math.max(start, otherTo);
  }
  if (start < to) rest.push([start, to]);
  return rest;
}
