import { isSameMachine } from "../document/author.ts";
import { hasWord } from "../text/line-diff.ts";
import { plainLines } from "../text/text-form.ts";
import { REPLACING, type TextConflictRecord, type TextVersion } from "./text-conflict-record.ts";

/** How often each line stands in a text. */
type Standing = ReadonlyMap<string, number>;

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
  const standing = new Map<string, number>();
  for (const line of plainLines(content)) standing.set(line, (standing.get(line) ?? 0) + 1);
  const isCovered = (record: TextConflictRecord, by: TextConflictRecord) =>
    isBefore(record, by, standing) && covers(by, record, standing);
  const seen = records.filter((record) => !records.some((by) => isCovered(record, by)));
  return seen.map((record) => ({
    record,
    covered: records.filter((each) => !seen.includes(each) && isCovered(each, record)),
  }));
}

/** Which of two that cover each other goes: the earlier one, else that with the smaller id. */
function isBefore(one: TextConflictRecord, other: TextConflictRecord, standing: Standing): boolean {
  if (one === other) return false;
  if (!covers(one, other, standing)) return true;
  return one.foundAt < other.foundAt || (one.foundAt === other.foundAt && one.id < other.id);
}

function covers(
  { kind, versions }: TextConflictRecord,
  other: TextConflictRecord,
  standing: Standing,
): boolean {
  if (REPLACING.includes(kind) && other.kind === "set-aside") {
    return coversAside(versions, other, standing);
  }
  if (![kind, other.kind].every((each) => REPLACING.includes(each))) return false;
  const [one, two] = versions;
  const [first, second] = other.versions;
  const isIn = (version: TextVersion, of: TextVersion) => isPart(version, of, standing);
  return (isIn(first, one) && isIn(second, two)) || (isIn(first, two) && isIn(second, one));
}

/**
 * Of what git had put in the place of lines nothing is left in the file (`settleAside`): they
 * disagree with others by now.
 */
function coversAside(
  versions: TextConflictRecord["versions"],
  aside: TextConflictRecord,
  standing: Standing,
): boolean {
  const stood = aside.versions.find(({ isStanding }) => isStanding);
  if (!stood || !hasWord(stood.text)) return false;
  const put = aside.versions.flatMap((each) => (each === stood ? [] : plainLines(each.text)));
  if (put.some(hasWord)) return false;
  return versions.some((version) => isPart(stood, version, standing));
}

/**
 * Whether a version says all that stands of another one. A line that stands twice names no place:
 * there may be a conflict about each.
 */
function isPart(version: TextVersion, of: TextVersion, standing: Standing): boolean {
  // Who wrote something else instead of lines wants to be rid of them, and says more by it.
  if (version.text === "") return of.text === "" || isBySame(version, of);
  if (of.text === "" || version.cut || of.cut) return false;
  const lines = new Set(plainLines(of.text));
  const left = plainLines(version.text).filter((line) => hasWord(line) && standing.has(line));
  return left.length > 0 && left.every((line) => lines.has(line) && standing.get(line) === 1);
}

function isBySame(version: TextVersion, other: TextVersion): boolean {
  return version.machine !== undefined && isSameMachine(version, other);
}
