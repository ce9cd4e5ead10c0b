import { commonLines } from "../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import { withoutMark } from "../../shared/replica/text/text-form.ts";
import { SpanSet } from "./span-set.ts";
import { type CapturedLine, joinLines, linesOf, splitLines } from "./text-lines.ts";

/** Versions that a text has been put together from. */
export interface PulledFrom {
  /** What these have beyond the text was taken out of it; the first count before later ones. */
  readonly from: readonly CapturedText[];
  /** Lines in common with these are theirs; what they have beyond the text is nobody's matter. */
  readonly alsoSeen?: readonly CapturedText[];
  readonly lines: string;
}

/**
 * What a text is an edit of that git has put together from several: each line that it has in common
 * with one of them (longest common subsequence) is that one's, and what they have beyond it was
 * taken out.
 */
export function pulledBase({ from, alsoSeen = [], lines }: PulledFrom): CapturedText {
  const after = splitLines(lines);
  const known: (CapturedLine | undefined)[] = after.map(() => undefined);
  const removed: CapturedLine[][] = [...after, ""].map(() => []);
  const matches = [...from, ...alsoSeen].map((version) => matchOf(linesOf(version), after));
  for (const { common } of matches) {
    for (const [at, line] of common) {
      // One that the document has says more than one that is of a version alone.
      if (!known[at] || (!isInDocument(known[at]) && isInDocument(line))) known[at] = line;
    }
  }
  const taken = known.flatMap((line) => line?.spans ?? []);
  for (const { beyond } of matches.slice(0, from.length)) {
    const known = new SpanSet(taken);
    for (const [at, line] of beyond) {
      if (known.hasAny(line.spans)) continue;
      removed[at]?.push(line);
      taken.push(...line.spans);
    }
  }
  return joinLines(removed.flatMap((gone, at) => [...gone, ...(known[at] ? [known[at]] : [])]));
}

function isInDocument({ spans }: CapturedLine): boolean {
  return spans.some(({ client }) => client !== null);
}

/** Which lines are in common and which are not, each with the index that it stands at. */
function matchOf(before: readonly CapturedLine[], after: readonly string[]) {
  const pairs = new Map(
    commonLines(
      before.map(({ text }) => withoutMark(text)),
      after.map(withoutMark),
    ),
  );
  const common: [number, CapturedLine][] = [];
  const beyond: [number, CapturedLine][] = [];
  let next = 0;
  for (const [at, line] of before.entries()) {
    const twin = pairs.get(at);
    if (twin === undefined) beyond.push([next, line]);
    else {
      common.push([twin, line]);
      next = twin + 1;
    }
  }
  return { common, beyond };
}
