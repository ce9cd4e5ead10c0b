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
 * The open conflicts, without those of which another one already says everything. A program that
 * saves again and again without reading makes a conflict with the same lines each time, with one
 * line of its own more or less. The last of these is enough: settling it settles them all.
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

/**
 * Which of two conflicts that cover each other is left out: the earlier one, or the one with the
 * smaller id.
 */
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
  if (kind === "twice" && other.kind === "moved") return coversMoved(versions, other, standing);
  if (![kind, other.kind].every((each) => REPLACING.includes(each))) return false;
  const [one, two] = versions;
  const [first, second] = other.versions;
  const isIn = (version: TextVersion, of: TextVersion) => isPart(version, of, standing);
  return (isIn(first, one) && isIn(second, two)) || (isIn(first, two) && isIn(second, one));
}

/**
 * Whether the versions cover a `set-aside` one. It has to be half over: of what git had put in the
 * place of its lines nothing is left in the file (`settleAside`). Its lines are then in conflict
 * with what others wrote, and that conflict says all that is left of it.
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
 * Whether a conflict about where lines should stand once is overtaken: they stand at two places by
 * now, and another conflict asks which of these is to stay.
 */
function coversMoved(
  versions: TextConflictRecord["versions"],
  moved: TextConflictRecord,
  standing: Standing,
): boolean {
  const told = new Set(versions.flatMap(({ text }) => plainLines(text)));
  const lines = moved.versions.flatMap(({ text }) => plainLines(text)).filter(hasWord);
  return lines.length > 0 && lines.every((line) => told.has(line) && (standing.get(line) ?? 0) > 1);
}

/**
 * Whether all that still stands of `version` is in `of`. Not if one of its lines stands twice:
 * there may be a conflict about each of the two places.
 */
function isPart(version: TextVersion, of: TextVersion, standing: Standing): boolean {
  // Whoever deleted the lines and wrote others in their place says more than whoever only deleted
  // them.
  if (version.text === "") return of.text === "" || isBySame(version, of);
  if (of.text === "" || version.cut || of.cut) return false;
  const lines = new Set(plainLines(of.text));
  const left = plainLines(version.text).filter((line) => hasWord(line) && standing.has(line));
  return left.length > 0 && left.every((line) => lines.has(line) && standing.get(line) === 1);
}

function isBySame(version: TextVersion, other: TextVersion): boolean {
  return version.machine !== undefined && isSameMachine(version, other);
}
