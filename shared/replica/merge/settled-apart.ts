import { leftVersion } from "../conflicts/ended-conflicts.ts";
import {
  ENDED_BY_EDITS,
  forgetEnded,
  listTextConflicts,
  type TextConflictRecord,
} from "../conflicts/text-conflict-record.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { OpenDocument } from "../store/open-document.ts";
import type { WriteContext } from "../store/write-context.ts";
import { LinesByWord } from "../text/likeness.ts";
import { hasWord } from "../text/line-diff.ts";
import { holdsAnyLine } from "../text/standing-lines.ts";
import { plainLines } from "../text/text-form.ts";
import type { WritingSide } from "./moved-lines.ts";
import { hunksOf } from "./side-hunks.ts";
import type { SideLine } from "./side-lines.ts";
import { recordConflicts } from "./text-conflicts.ts";

/**
 * Both sides have settled a conflict by taking out a version, each another one: nothing is left of
 * either, which nobody wanted. So it is the one question again, as where they choose differently.
 * To be called when the two have met. `readLines`: the lines of all three texts, with what each
 * side took out by itself. Returns the ids.
 */
export async function tellSettledApart<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  readLines: () => readonly SideLine[],
): Promise<readonly string[]> {
  const { document } = open;
  const content = document.content();
  const gone = listTextConflicts(document).filter(({ kind, versions }) => {
    if (!ENDED_BY_EDITS.includes(kind) || versions.some(({ text }) => text === "")) return false;
    return !holdsAnyLine(content, ownLines(versions).flat().join("\n"));
  });
  if (gone.length === 0) return [];
  const lines = readLines();
  const [mine, theirs] = [takenOutBy(lines, "mine"), takenOutBy(lines, "theirs")];
  const isAny = (own: readonly string[], by: ReadonlySet<string>) =>
    own.some((line) => by.has(line));
  const apart = gone.filter(({ versions }) => {
    const [one, other] = ownLines(versions);
    return (isAny(one, mine) && isAny(other, theirs)) || (isAny(one, theirs) && isAny(other, mine));
  });
  for (const record of apart) forgetEnded(document, record);
  const again = apart.map(({ versions: [one, other] }) => {
    return { kind: "both", versions: [leftVersion(one), leftVersion(other)] } as const;
  });
  return await recordConflicts(context, open, again);
}

/** What a side alone took out, and neither put anything in the place of nor mended elsewhere. */
function takenOutBy(lines: readonly SideLine[], by: WritingSide): ReadonlySet<string> {
  const hunks = hunksOf(lines, by).filter(({ added }) => added.some(({ text }) => hasWord(text)));
  const former = new LinesByWord(lines.filter(({ side }) => side === "base"));
  const replaced = new Set(
    hunks.flatMap(({ removed, added }) => [
      ...removed,
      ...added.flatMap(({ text }) => former.mostAlike(text)),
    ]),
  );
  const other = by === "mine" ? "theirs" : "mine";
  const isOut = (line: SideLine) =>
    line.side === "base" && line.gone[by] && !line.gone[other] && !replaced.has(line);
  return new Set(lines.filter(isOut).map(({ text }) => text.replace(/\n$/, "")));
}

/** The lines of each version that the other one has not; all, where both say the same. */
function ownLines([one, other]: TextConflictRecord["versions"]): [string[], string[]] {
  const [ofOne, ofOther] = [plainLines(one.text), plainLines(other.text)];
  const beside = (lines: readonly string[], others: readonly string[]) => {
    const own = lines.filter((line) => hasWord(line) && !others.includes(line));
    return own.length > 0 ? own : lines.filter(hasWord);
  };
  return [beside(ofOne, ofOther), beside(ofOther, ofOne)];
}
