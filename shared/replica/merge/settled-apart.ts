import { leftVersion } from "../conflicts/ended-conflicts.ts";
import { asksForChoice } from "../conflicts/over-conflict.ts";
import {
  forgetEnded,
  listTextConflicts,
  type TextConflictRecord,
  type TextVersion,
} from "../conflicts/text-conflict-record.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { OpenDocument } from "../store/open-document.ts";
import type { WriteContext } from "../store/write-context.ts";
import { hasWord } from "../text/line-diff.ts";
import { plainLines } from "../text/text-form.ts";
import { type SideLine, textOfSide } from "./side-lines.ts";
import { recordConflicts } from "./text-conflicts.ts";

/**
 * Both sides have settled a conflict, in different ways: each took out what the other chose. So it
 * is one question again, as if both had chosen now. To be called when the two have met.
 * `readLines`: the lines of all three texts. Returns the ids.
 */
export async function tellSettledApart<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  readLines: () => readonly SideLine[],
): Promise<readonly string[]> {
  const { document } = open;
  const records = listTextConflicts(document).filter(({ versions }) => {
    return versions.every(({ text }) => text !== "");
  });
  const asked = records.filter(asksForChoice);
  if (asked.length === 0) return [];
  const texts = textsOf(readLines(), document.content());
  const apart = texts ? asked.filter((record) => isSettledApart(record, { records, texts })) : [];
  return await askAgain(context, open, apart);
}

/** Opens conflicts again that are over, or seem so, with both versions. Returns the ids. */
export async function askAgain<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  records: readonly TextConflictRecord[],
): Promise<readonly string[]> {
  for (const record of records) forgetEnded(open.document, record);
  const again = records.map(({ versions: [one, other] }) => {
    return { kind: "both", versions: [leftVersion(one), leftVersion(other)] } as const;
  });
  return await recordConflicts(context, open, again);
}

/** How often each line stands in a text. */
type Counted = ReadonlyMap<string, number>;

/** What both began with, what each of them has, and what has come of it. */
type Texts = Readonly<Record<"base" | "mine" | "theirs" | "merged", Counted>>;

function textsOf(lines: readonly SideLine[], merged: string): Texts | undefined {
  const [base, mine, theirs] = (["base", "mine", "theirs"] as const).map((side) => {
    return textOfSide(lines, side);
  });
  if (base === undefined || mine === undefined || theirs === undefined) return undefined;
  const [counted, ofMine, ofTheirs] = [countLines(base), countLines(mine), countLines(theirs)];
  return { base: counted, mine: ofMine, theirs: ofTheirs, merged: countLines(merged) };
}

function countLines(text: string): Counted {
  const counted = new Map<string, number>();
  for (const line of plainLines(text)) counted.set(line, countIn(counted, line) + 1);
  return counted;
}

function countIn(text: Counted, line: string): number {
  return text.get(line) ?? 0;
}

/**
 * Whether the sides settled it in different ways. Each side is judged by its own text: what the
 * other one wrote says nothing of what it chose.
 */
function isSettledApart(
  record: TextConflictRecord,
  { records, texts }: { readonly records: readonly TextConflictRecord[]; readonly texts: Texts },
): boolean {
  const { base, mine, theirs, merged } = texts;
  const [one, other] = record.versions;
  // The same lines at two places: each side has taken out another copy.
  if (one.text === other.text)
    return saidIn(one.text).some((line) => {
      const [ofMine, ofTheirs] = [countIn(mine, line), countIn(theirs, line)];
      const isOneOut = Math.max(ofMine, ofTheirs) < countIn(base, line);
      return isOneOut && countIn(merged, line) < Math.max(ofMine, ofTheirs);
    });
  if ([mine, theirs].some((text) => isStillAsked(record, { records, base, text }))) return false;
  const [ofMine, ofTheirs] = [mine, theirs].map((text) => {
    const isOut = (version: string, beside: string) => {
      const own = ownLines(version, beside).filter((line) => base.has(line));
      return own.length > 0 && own.every((line) => countIn(text, line) < countIn(base, line));
    };
    return [isOut(one.text, other.text), isOut(other.text, one.text)];
  });
  const isSettled = ofMine?.includes(true) && ofTheirs?.includes(true);
  return isSettled === true && ofMine?.join() !== ofTheirs?.join();
}

/**
 * Whether a side has changed a version, and so has not chosen: the question is then about what it
 * made of that.
 */
function isStillAsked(
  { id, versions }: TextConflictRecord,
  {
    records,
    base,
    text,
  }: {
    readonly records: readonly TextConflictRecord[];
    readonly base: Counted;
    readonly text: Counted;
  },
): boolean {
  const isNew = (line: string) => text.has(line) && !base.has(line);
  const asks = (left: TextVersion, made: TextVersion) =>
    versions.some((known) => known.text === left.text) &&
    saidIn(left.text).some((line) => text.has(line)) &&
    saidIn(made.text).some(isNew);
  return records.some((each) => {
    const [one, other] = each.versions;
    return each.id !== id && (asks(one, other) || asks(other, one));
  });
}

/** The lines of a version that the other one has not; all, where it has each of them. */
function ownLines(version: string, beside: string): string[] {
  const [lines, others] = [saidIn(version), new Set(plainLines(beside))];
  const own = lines.filter((line) => !others.has(line));
  return own.length > 0 ? own : lines;
}

function saidIn(text: string): string[] {
  return plainLines(text).filter(hasWord);
}
