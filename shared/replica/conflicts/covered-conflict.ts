import { hasWord } from "../text/line-diff.ts";
import { plainLines } from "../text/text-form.ts";
import { REPLACING, type TextConflictRecord, type TextVersion } from "./text-conflict-record.ts";

/** A conflict, and those that say nothing beyond it. */
export interface CoveringConflict {
  readonly record: TextConflictRecord;
  readonly covered: readonly TextConflictRecord[];
}

/**
 * Open conflicts, without those that others say all of. A program that saves again and again
 * without reading disagrees with the same lines each time, with one more or less of its own:
 * whoever settles the last of that has settled all of it.
 */
export function withoutCovered(
  records: readonly TextConflictRecord[],
  content: string,
): CoveringConflict[] {
  const standing = new Set(plainLines(content));
  const isCovered = (record: TextConflictRecord, by: TextConflictRecord) =>
    isBefore(record, by, standing) && covers(by, record, standing);
  const seen = records.filter((record) => !records.some((by) => isCovered(record, by)));
  return seen.map((record) => ({
    record,
    covered: records.filter((each) => !seen.includes(each) && isCovered(each, record)),
  }));
}

/** Which of two that cover each other goes: the earlier one, else that with the smaller id. */
function isBefore(
  one: TextConflictRecord,
  other: TextConflictRecord,
  standing: ReadonlySet<string>,
): boolean {
  if (one === other) return false;
  if (!covers(one, other, standing)) return true;
  return one.foundAt < other.foundAt || (one.foundAt === other.foundAt && one.id < other.id);
}

function covers(
  { kind, versions }: TextConflictRecord,
  other: TextConflictRecord,
  standing: ReadonlySet<string>,
): boolean {
  if (![kind, other.kind].every((each) => REPLACING.includes(each))) return false;
  const own = new Set(versions.flatMap(({ text }) => plainLines(text)));
  const [one, two] = versions;
  const [first, second] = other.versions;
  const isIn = (version: TextVersion, of: TextVersion) => isPart(version, of, { own, standing });
  return (isIn(first, one) && isIn(second, two)) || (isIn(first, two) && isIn(second, one));
}

/** Whether a version says what stands of another one, at the same place. */
function isPart(
  version: TextVersion,
  of: TextVersion,
  { own, standing }: { readonly own: ReadonlySet<string>; readonly standing: ReadonlySet<string> },
): boolean {
  // Who wrote something else instead of lines wants to be rid of them, and says more by it.
  if (version.text === "") return of.text === "" || isBySame(version, of);
  if (of.text === "") return false;
  if (version.cut || of.cut || version.places.length === 0) return false;
  const lines = new Set(plainLines(of.text));
  const left = plainLines(version.text).filter((line) => hasWord(line) && standing.has(line));
  const heads = new Set(of.places.map(({ behind }) => lastSaid(behind)));
  const isThere = (behind: string | undefined) =>
    heads.has(behind) || (behind !== undefined && own.has(behind));
  return (
    left.length > 0 &&
    left.every((line) => lines.has(line)) &&
    version.places.every(({ behind }) => isThere(lastSaid(behind)))
  );
}

function isBySame({ machine }: TextVersion, other: TextVersion): boolean {
  return machine !== undefined && machine === other.machine;
}

/** The last of whole lines that has a word. */
function lastSaid(lines: string): string | undefined {
  return plainLines(lines).findLast(hasWord);
}
