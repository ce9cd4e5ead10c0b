import { firstWhere } from "../../shared/replica/text/first-where.ts";
import type { IdRanges } from "../../shared/replica/text/id-ranges.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import type { TextSpan } from "../../shared/replica/text/text-spans.ts";

/** Clocks [from, to) of one client. */
type Range = readonly [number, number];

/** Characters of a document, in any number of pieces. To ask about one piece takes no walk. */
export class SpanSet {
  /** For each client ascending ranges, none of which touches the next. */
  readonly ranges: IdRanges;

  /** Characters that are in no document are left out. */
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

  /** Whether any of these characters is among them. */
  hasAny(spans: readonly TextSpan[]): boolean {
    return spans.some(({ client, clock, length }) => {
      const ranges = (client !== null && this.ranges.get(client)) || [];
      const next = ranges[firstWhere(ranges, ([, end]) => end > clock)];
      return next !== undefined && next[0] < clock + length;
    });
  }

  /** Those characters that another set does not have. */
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

/** Those characters of the first that the second does not have. */
export function without(one: readonly TextSpan[], other: readonly TextSpan[]): TextSpan[] {
  return new SpanSet(one).without(new SpanSet(other)).spans();
}

/** The characters of a text (the live one, say) that a version does not show. */
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
