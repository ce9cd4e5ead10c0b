import { commonLines } from "../../shared/replica/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text.ts";
import { type CapturedLine, joinLines, linesOf, overlap, splitLines } from "./text-lines.ts";

/**
 * What a text is an edit of that git has put together from several: each line that it has in common
 * with one of them (longest common subsequence) is that one's, and what they have beyond it was
 * taken out. The first versions count before later ones.
 */
export function pulledBase(versions: readonly CapturedText[], lines: string): CapturedText {
  const after = splitLines(lines);
  const known: (CapturedLine | undefined)[] = after.map(() => undefined);
  const removed: CapturedLine[][] = [...after, ""].map(() => []);
  const matches = versions.map((version) => matchOf(linesOf(version), after));
  for (const { common } of matches) for (const [at, line] of common) known[at] ??= line;
  const taken = known.flatMap((line) => line?.spans ?? []);
  for (const { beyond } of matches) {
    for (const [at, line] of beyond) {
      if (overlap(line.spans, taken)) continue;
      removed[at]?.push(line);
      taken.push(...line.spans);
    }
  }
  return joinLines(removed.flatMap((gone, at) => [...gone, ...(known[at] ? [known[at]] : [])]));
}

/** Which lines are in common and which are not, each with the index that it stands at. */
function matchOf(before: readonly CapturedLine[], after: readonly string[]) {
  const pairs = new Map(
    commonLines(
      before.map(({ text }) => text),
      after,
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
