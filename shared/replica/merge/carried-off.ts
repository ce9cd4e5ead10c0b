import { LinesByWord } from "../text/likeness.ts";
import { isTelling } from "../text/neighbour-lines.ts";
import { withoutMark } from "../text/text-form.ts";
import type { CarriedOff, MovedLines, WritingSide } from "./moved-lines.ts";
import { hunksOf } from "./side-hunks.ts";
import type { SideLine } from "./side-lines.ts";

/**
 * Finds where sides have put what both took away. If a line is gone from its place and an equal or
 * similar one stands elsewhere, the second was more likely made of the first than written by
 * chance. A line that took the place of others was made of one of those. About a line that the
 * other side kept nobody disagrees.
 */
export function findCarriedOff(lines: readonly SideLine[]): CarriedOff | undefined {
  const isLost = ({ side, gone, text }: SideLine) =>
    side === "base" && gone.mine && gone.theirs && isTelling(text);
  const lost = lines.filter(isLost);
  if (lost.length === 0) return undefined;
  const base = lines.filter(({ side, text }) => side === "base" && isTelling(text));
  const byText = Map.groupBy(base, ({ text }) => said(text));
  const byWord = new LinesByWord(base);
  const madeBy = (by: WritingSide): Made => {
    const made = { elsewhere: new Map(), inPlace: new Map() };
    for (const { added, removed } of hunksOf(lines, by)) {
      for (const { text } of added) {
        if (!isTelling(text)) continue;
        const of = byText.get(said(text)) ?? byWord.mostAlike(text);
        const here = of.filter((line) => removed.includes(line));
        const into = here.length > 0 ? made.inPlace : made.elsewhere;
        for (const line of (here.length > 0 ? here : of).filter(isLost)) {
          into.set(line, [...(into.get(line) ?? []), said(text)]);
        }
      }
    }
    return made;
  };
  const made = { mine: madeBy("mine"), theirs: madeBy("theirs") };
  const isMadeBy = (by: WritingSide, line: SideLine) =>
    made[by].elsewhere.has(line) || made[by].inPlace.has(line);
  const alone = (by: WritingSide, other: WritingSide) =>
    lost.flatMap((line) => {
      const own = isMadeBy(other, line) ? [] : (made[by].elsewhere.get(line) ?? []);
      return own.filter((text) => text !== said(line.text));
    });
  return {
    alone: { mine: new Set(alone("mine", "theirs")), theirs: new Set(alone("theirs", "mine")) },
    apart: apartIn(lost, made),
  };
}

/** What a side made of lines: where they stood, and elsewhere. */
interface Made {
  readonly elsewhere: ReadonlyMap<SideLine, readonly string[]>;
  readonly inPlace: ReadonlyMap<SideLine, readonly string[]>;
}

function apartIn(
  lost: readonly SideLine[],
  { mine, theirs }: Readonly<Record<WritingSide, Made>>,
): MovedLines {
  const apart = { mine: new Set<string>(), theirs: new Set<string>() };
  for (const line of lost) {
    const isElsewhere = mine.elsewhere.has(line) || theirs.elsewhere.has(line);
    const [own, others] = [mine, theirs].map(({ elsewhere, inPlace }) => {
      return elsewhere.get(line) ?? inPlace.get(line) ?? [];
    });
    if (!isElsewhere || !own?.length || !others?.length) continue;
    if (own.some((text) => others.includes(text))) continue;
    for (const text of own) apart.mine.add(text);
    for (const text of others) apart.theirs.add(text);
  }
  return apart;
}

function said(text: string): string {
  return withoutMark(text).replace(/\n$/, "");
}
