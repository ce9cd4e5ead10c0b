import { firstWhere } from "../../../shared/replica/text/first-where.ts";
import type { IdRanges } from "../../../shared/replica/text/id-ranges.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import type { TextSpan } from "../../../shared/replica/text/text-spans.ts";

/** A range of clocks of one client: from the first to before the second. */
type Range = readonly [number, number];

/**
 * A set of a document's characters. Looking one up needs no walk through the set.
 *
 * ```
 * new SpanSet(text.spans).without(new SpanSet(version.spans)); // what came since the version
 * ```
 */
export class SpanSet {
  /** For each client, ascending ranges that do not touch. */
  readonly ranges: IdRanges;

  /** Leaves out characters that are in no document. */
  constructor(spans: readonly TextSpan[]) {
    const all = new Map<number, Range[]>();
    for (const { client, clock, length } of spans) {
      if (client === null) continue;
      const ranges = all.get(client);
      if (ranges) ranges.push([clock, clock + length]);
      else all.set(client, [[clock, clock + length]]);
    }
    this.ranges = new Map([...all].map(([client, ranges]) => [client, joined(ranges)]));
  }

  /** Whether any of these characters is in the set. */
  hasAny(spans: readonly TextSpan[]): boolean {
    return spans.some(({ client, clock, length }) => {
      const ranges = (client !== null && this.ranges.get(client)) || [];
      const next = ranges[firstWhere(ranges, ([, end]) => end > clock)];
      return next !== undefined && next[0] < clock + length;
    });
  }

  /** The characters of this set that the other one lacks. */
  without(other: SpanSet): SpanSet {
    const spans: TextSpan[] = [];
    for (const [client, ranges] of this.ranges) {
      const others = other.ranges.get(client) ?? [];
      let next = 0;
      for (const [from, to] of ranges) {
        let start = from;
        while ((others[next]?.[1] ?? Number.POSITIVE_INFINITY) <= from) next++;
        for (; (others[next]?.[0] ?? to) < to; next++) {
          const [otherFrom, otherTo] = others[next] as Range;
          if (otherFrom > start) spans.push({ client, clock: start, length: otherFrom - start });
          start = otherTo;
          if (otherTo >= to) break;
        }
        if (start < to) spans.push({ client, clock: start, length: to - start });
      }
    }
    return new SpanSet(spans);
  }

  /** By client, in the order in which they were written. */
  spans(): TextSpan[] {
    return [...this.ranges].flatMap(([client, ranges]) =>
      ranges.map(([from, to]) => ({ client, clock: from, length: to - from })),
    );
  }
}

/** The characters of the first list that the second lacks. */
export function without(one: readonly TextSpan[], other: readonly TextSpan[]): TextSpan[] {
  return new SpanSet(one).without(new SpanSet(other)).spans();
}

/** The characters of a text that a version does not show. */
export function rangesOutside(
  text: Pick<CapturedText, "spans">,
  version: Pick<CapturedText, "spans">,
): IdRanges {
  return new SpanSet(text.spans).without(new SpanSet(version.spans)).ranges;
}

function joined(ranges: Range[]): Range[] {
  ranges.sort(([one], [other]) => one - other);
  const found: [number, number][] = [];
  for (const [from, to] of ranges) {
    const last = found.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}
