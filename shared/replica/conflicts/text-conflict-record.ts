import { createHash } from "node:crypto";
import { base32 } from "../../ids.ts";
import { isObject, type JsonObject, type JsonValue } from "../../json.ts";
import { exceedsBytes, LIMITS } from "../../limits.ts";
import { parseHomeId } from "../document/author.ts";
import type { ReplicaDocument } from "../document/document.ts";
import { machineName } from "../document/machine-name.ts";
import { TEXT_CONFLICT_PREFIX } from "../document/own-metadata.ts";
import { HISTORY } from "../history/revisions.ts";
import { hasWord } from "../text/line-diff.ts";
import { countLines } from "../text/standing-lines.ts";
import { plainLines } from "../text/text-form.ts";

const ID_LENGTH = 8;

/** The latest time that a date can have; see "Time Values and Time Range" in ECMA-262. */
const TIME_MAX = 8.64e15;

/** This many characters of each version are kept if both together are too long for one entry. */
const CUT_LENGTH = 2000;

/** Who took lines out of a text, and when; neither where that is not known. */
export interface LineRemoval {
  readonly machine: string | undefined;
  readonly at?: number | undefined;
}

/** One of the two versions of a place in a text. */
export interface TextVersion {
  /** Whole lines, each with its line break; empty where this side has none there. */
  readonly text: string;
  /**
   * The version was too long: `text` is its beginning. All of it is in the document's text or
   * history.
   */
  readonly cut: boolean;
  /** Who wrote it, or took the lines away; undefined where that is not known. */
  readonly machine: string | undefined;
  /** Whose that machine is; undefined where that is not known. See `isSameMachine`. */
  readonly home?: string | undefined;
  /** When, in milliseconds since the Unix epoch; undefined where that is not known. */
  readonly at: number | undefined;
  /** Who took lines of the other version out of the text before, as far as that is known. */
  readonly removed?: LineRemoval | undefined;
  /** Where its lines stood; empty where that was not kept. */
  readonly places: readonly PlacedLines[];
  /**
   * Whether its lines stood in the text when the conflict was recorded. Those of the other version
   * did not.
   */
  readonly isStanding: boolean;
}

/**
 * What met.
 *
 * - `both`: two machines changed one place differently. Both versions are, or were, in the text.
 * - `unseen`: a save undid what others had just changed, and may not have seen it. What others
 *   added stays, and so does what the save has.
 * - `moved`: a save and what others had just done to the file put lines in different places. They
 *   stand once, where the version that `isStanding` has them.
 * - `format`: a save undid the byte order mark, line endings or final newline that others had just
 *   given the text. The save's stand; `text` names each.
 * - `deletion`: more than half of the text's lines were deleted at once.
 * - `elsewhere`: git brought a version of the file that has lines which the document has not.
 * - `renewed`: a file was made anew after it was gone, met its document for the first time, or came
 *   with another history of git. What either had beyond the other stays: what others have deleted
 *   since then may be among it, and stands again.
 * - `set-aside`: git took saved lines out of a file and keeps them in a stash or on another branch.
 *   They stay in the document. Or it put back lines that a save had deleted, and keeps the deletion
 *   there: they stay out of the document, and the version without them `isStanding`.
 * - `twice`: two machines moved the same lines to different places, or wrote them there, and they
 *   stand at both.
 */
export type TextConflictKind = (typeof TEXT_CONFLICT_KINDS)[number];

const TEXT_CONFLICT_KINDS = [
  "both",
  "unseen",
  "moved",
  "format",
  "deletion",
  "elsewhere",
  "renewed",
  "set-aside",
  "twice",
] as const;

/** The kinds in which one version was put in the place of the other, and both may stand. */
export const REPLACING: readonly TextConflictKind[] = ["both", "unseen"];

/**
 * The kinds that hold a file: while one is open nothing is written into the file that it is about,
 * of which the text lacks lines.
 */
export const HOLDING: readonly TextConflictKind[] = ["set-aside", "elsewhere"];

/** Lines that stood together, and the lines that they stood behind; "" at the beginning. */
export interface PlacedLines {
  readonly behind: string;
  readonly text: string;
  /**
   * The first line with a word behind them that is not in the conflict; "" where there was none,
   * left out where that was not kept.
   */
  readonly ahead?: string;
  /** How many blank lines directly before and after them came with them; 0 where left out. */
  readonly before?: number;
  readonly after?: number;
  /**
   * They are all that a side had between what they stood behind and ahead of; the other side took
   * some of them out. Each version of such a conflict has all its places so, in the same order.
   */
  readonly whole?: boolean;
  /**
   * Where the place is `whole`: which lines, from 0, did not stand when the conflict was recorded.
   */
  readonly gone?: readonly number[];
  /**
   * Of a `deletion`: how often each of these lines stood anywhere when it was recorded; left out
   * where that was not kept.
   */
  readonly stood?: readonly number[];
}

/** More blank lines in a row are counted as this many. */
const BLANKS_MAX = 1000;

/**
 * At most this much is kept of what lines stood behind. A longer line that they stood ahead of is
 * not kept.
 */
export const BEHIND_LENGTH_MAX = 500;

/**
 * What a document says of a place of its text about which two sides disagree. As metadata of the
 * program's own it is on every machine, with the same id.
 */
export interface TextConflictRecord {
  readonly id: string;
  readonly kind: TextConflictKind;
  /** When the two met, in milliseconds since the Unix epoch. */
  readonly foundAt: number;
  readonly versions: readonly [TextVersion, TextVersion];
  /** Of a `deletion`: how many lines went. */
  readonly lines: number | undefined;
}

/** A side of a conflict as it is recorded. */
export interface NewVersion {
  readonly text: string;
  readonly machine: string | undefined;
  readonly home?: string | undefined;
  readonly at?: number | undefined;
  readonly removed?: LineRemoval | undefined;
  readonly places?: readonly PlacedLines[];
  readonly isStanding?: boolean;
}

/** A conflict as it is recorded. */
export interface NewTextConflict {
  readonly kind: TextConflictKind;
  readonly versions: readonly [NewVersion, NewVersion];
  readonly lines?: number;
}

/**
 * Records a conflict, unless its document has one of the same event already, and forgets those that
 * are too many, or too old at `time` (see `historyTime`). Whichever machine finds it, its id and
 * its order of versions are the same. Gives the id.
 */
export function recordTextConflict(
  document: ReplicaDocument,
  conflict: NewTextConflict,
  { now, time = now }: { readonly now: number; readonly time?: number | undefined },
): string {
  const [one, other] = conflict.versions;
  const versions = compareVersions(one, other) <= 0 ? [one, other] : [other, one];
  const named = textConflictId(conflict.kind, versions);
  const isOther = isElsewhere(readTextConflict(document, named), versions);
  const id = isOther ? textConflictId(conflict.kind, versions, placeOf(versions)) : named;
  const key = TEXT_CONFLICT_PREFIX + id;
  const known = readTextConflict(document, id);
  const content = conflict.kind === "deletion" ? document.content() : undefined;
  const noteStood = (version: NewVersion) =>
    content === undefined ? version : withStood(version, content);
  if (!known || isOfBefore(known, conflict, now)) {
    document.setEntry("metadata", key, {
      value: storedRecord({ ...conflict, now }, versions.map(noteStood)),
      now,
    });
  }
  forgetSurplus(document, time);
  return id;
}

/** A line that stands still when its deletion is told is another one. */
function withStood(version: NewVersion, content: string): NewVersion {
  const { text, places } = version;
  if (!places || exceedsBytes(text, LIMITS.metadataBytes)) return version;
  const counts = countLines(content, text);
  let from = 0;
  const withCounts = places.map((place): PlacedLines => {
    const stood = counts.slice(from, from + plainLines(place.text).length);
    from += stood.length;
    return { ...place, stood };
  });
  return { ...version, places: withCounts };
}

function readTextConflict(document: ReplicaDocument, id: string): TextConflictRecord | undefined {
  return parseTextConflict(id, document.metadata.get(TEXT_CONFLICT_PREFIX + id)[0]?.value);
}

/** The kinds that a text may have several times with the same lines, once at each place. */
const PLACED: readonly TextConflictKind[] = ["both", "unseen", "set-aside"];

/** Whether the lines of a known conflict have met again, at another place of the text. */
function isElsewhere(known: TextConflictRecord | undefined, versions: readonly NewVersion[]) {
  if (!known || !PLACED.includes(known.kind)) return false;
  const [there, here] = [placeOf(known.versions), placeOf(versions)];
  const own = versions.flatMap(({ text }) => plainLines(text));
  return there !== "" && here !== "" && there !== here && !own.includes(here);
}

/** The line that the lines of a conflict stand behind; "" where that is not known. */
function placeOf(versions: readonly Pick<NewVersion, "places">[]): string {
  const places = versions.flatMap(({ places = [] }) => places.map(({ behind }) => behind));
  return places.flatMap((behind) => plainLines(behind).findLast(hasWord) ?? []).join("\n");
}

/** All machines that find the same conflict do so within this time. */
const SAME_EVENT_MS_MAX = 3_600_000;

/**
 * Whether the known conflict is an earlier event: the same lines have met, or were deleted, again.
 */
function isOfBefore(known: TextConflictRecord, { kind }: NewTextConflict, now: number): boolean {
  // Only the machine that made a deletion tells of it.
  return kind === "deletion" || now - known.foundAt > SAME_EVENT_MS_MAX;
}

/** Orders versions equally, whichever machine finds them, even two that say the same. */
function compareVersions(one: NewVersion, other: NewVersion): number {
  const sortKey = ({ text, places = [] }: NewVersion) => [
    text,
    ...places.map((each) => each.behind),
  ];
  const [keys, others] = [sortKey(one), sortKey(other)];
  const at = keys.findIndex((key, index) => key !== others[index]);
  if (at === -1) return 0;
  return (keys[at] ?? "") < (others[at] ?? "") ? -1 : 1;
}

/** Eight characters that say which two versions met, and where, if they met elsewhere before. */
function textConflictId(
  kind: TextConflictKind,
  versions: readonly NewVersion[],
  ...place: readonly string[]
): string {
  const texts = [...versions.map(({ text }) => text), ...place];
  // One event may be found in both ways: one machine finds two changes of a place, and another one
  // a save that may not have seen one of them.
  const named = kind === "both" || kind === "unseen" ? texts : [kind, ...texts];
  const digest = createHash("sha256").update(JSON.stringify(named)).digest();
  return base32(digest).slice(0, ID_LENGTH);
}

type Recorded = Omit<NewTextConflict, "versions"> & { readonly now: number };

/** The record as it is stored: whole if it fits, else without the places, else cut. */
function storedRecord(recorded: Recorded, versions: readonly NewVersion[]): JsonObject {
  const whole = storedAs(recorded, versions, Number.POSITIVE_INFINITY);
  if (fits(whole)) return whole;
  const unplaced = versions.map(({ places: _, ...version }) => version);
  const left = storedAs(recorded, unplaced, Number.POSITIVE_INFINITY);
  return fits(left) ? left : storedAs(recorded, unplaced, CUT_LENGTH);
}

function fits(record: JsonObject): boolean {
  return !exceedsBytes(JSON.stringify(record), LIMITS.metadataBytes);
}

function storedAs(
  { kind, lines, now }: Recorded,
  versions: readonly NewVersion[],
  textMax: number,
): JsonObject {
  return {
    ...(kind !== "both" && { kind }),
    found_at: now,
    ...(lines !== undefined && { lines }),
    versions: versions.map(({ text, machine, home, at, removed, places, isStanding }) => ({
      text: text.slice(0, textMax),
      cut: text.length > textMax,
      machine: machine ?? null,
      ...(home !== undefined && { home }),
      ...(at !== undefined && { at }),
      ...(removed && { removed: storedRemoval(removed) }),
      ...(places && { places: places.map(storedPlace) }),
      ...(isStanding && { stands: true }),
    })),
  };
}

function storedRemoval({ machine, at }: LineRemoval): JsonObject {
  return { machine: machine ?? null, ...(at !== undefined && { at }) };
}

/** The text of places is the version's, in order. */
function storedPlace({ behind, text, ahead, gone, stood, ...blanks }: PlacedLines): JsonObject {
  const lines = text.split("\n").length - 1;
  const isKept = ahead !== undefined && ahead.length <= BEHIND_LENGTH_MAX;
  return {
    behind: lastLines(behind),
    lines,
    ...(isKept && { ahead }),
    ...(gone && { gone: [...gone] }),
    ...(stood && { stood: [...stood] }),
    ...blanks,
  };
}

/**
 * The last whole lines that fit, so that they are found again; if the last line is too long, its
 * end.
 */
function lastLines(behind: string): string {
  const end = behind.slice(-BEHIND_LENGTH_MAX);
  return end === behind ? end : end.slice(end.indexOf("\n") + 1) || end;
}

/** Removes a conflict, and leaves no mark; see `settleTextConflict`. */
export function forgetTextConflict(document: ReplicaDocument, id: string): void {
  document.deleteEntry("metadata", TEXT_CONFLICT_PREFIX + id);
}

/**
 * Notes that somebody has settled a conflict. Of one that held a file a mark is left: that it is
 * gone would prove nothing, for a program may have deleted it, or it was too old.
 */
export function settleTextConflict(document: ReplicaDocument, id: string, now: number): void {
  const known = readTextConflict(document, id);
  if (!known || !HOLDING.includes(known.kind)) forgetTextConflict(document, id);
  else
    document.setEntry("metadata", TEXT_CONFLICT_PREFIX + id, { value: { settled_at: now }, now });
}

/**
 * Removes a conflict in whose place another one is told. One that held a file stays, over as it is:
 * whether somebody has settled it is asked by whoever follows that file.
 */
export function forgetEnded(document: ReplicaDocument, { id, kind }: TextConflictRecord): void {
  if (!HOLDING.includes(kind)) forgetTextConflict(document, id);
}

/** Notes that what a known conflict tells has happened again. */
export function renewTextConflict(document: ReplicaDocument, id: string, now: number): void {
  const key = TEXT_CONFLICT_PREFIX + id;
  const value = document.metadata.get(key)[0]?.value;
  if (isObject(value))
    document.setEntry("metadata", key, { value: { ...value, found_at: now }, now });
}

/** What became of a conflict; undefined where nothing tells. */
export function fateOf(
  document: ReplicaDocument,
  id: string,
): TextConflictRecord | "settled" | undefined {
  const value = document.metadata.get(TEXT_CONFLICT_PREFIX + id)[0]?.value;
  return settledTime(value) === undefined ? parseTextConflict(id, value) : "settled";
}

/**
 * Deletes conflicts that are too old or too many. Conflicts that hold a file, and the marks in
 * their place, do not count towards the number, and go by their age alone.
 */
function forgetSurplus(document: ReplicaDocument, time: number): void {
  const records = [...document.metadata.keys()]
    .filter((key) => key.startsWith(TEXT_CONFLICT_PREFIX))
    .map((key) => ({ key, ...whatIsKept(document.metadata.get(key)[0]?.value) }))
    .sort((one, other) => other.at - one.at);
  let others = 0;
  for (const { key, at, isHolding } of records) {
    if (!isHolding) others++;
    const isRoom = isHolding || others <= HISTORY.conflictsPerDocument;
    const isKept = isRoom && time - at <= HISTORY.ageMs;
    if (!isKept) document.deleteEntry("metadata", key);
  }
}

function whatIsKept(value: JsonValue | undefined) {
  const record = parseTextConflict("", value);
  if (record) return { at: record.foundAt, isHolding: HOLDING.includes(record.kind) };
  const at = settledTime(value);
  return { at: at ?? 0, isHolding: at !== undefined };
}

function settledTime(value: JsonValue | undefined): number | undefined {
  return isObject(value) ? timeIn(value.settled_at) : undefined;
}

/** Reads what a document says; undefined for what no memsync has written. */
export function parseTextConflict(
  id: string,
  value: JsonValue | undefined,
): TextConflictRecord | undefined {
  const foundAt = isObject(value) ? timeIn(value.found_at) : undefined;
  if (!isObject(value) || foundAt === undefined) return undefined;
  const stored = Array.isArray(value.versions) ? value.versions : [];
  const [one, other, ...more] = stored.map(parseVersion);
  if (!one || !other || more.length > 0) return undefined;
  const kind = TEXT_CONFLICT_KINDS.find((each) => each === value.kind) ?? "both";
  const lines = typeof value.lines === "number" ? value.lines : undefined;
  return { id, kind, foundAt, versions: [one, other], lines };
}

/** What a document says, in the order of its keys. */
export function listTextConflicts({ metadata }: ReplicaDocument): TextConflictRecord[] {
  return [...metadata.keys()].flatMap((key) => {
    if (!key.startsWith(TEXT_CONFLICT_PREFIX)) return [];
    const id = key.slice(TEXT_CONFLICT_PREFIX.length);
    return parseTextConflict(id, metadata.get(key)[0]?.value) ?? [];
  });
}

/** The places of a version's lines; none unless they are all of its lines. */
function parsePlaces(value: JsonValue | undefined, text: string): PlacedLines[] {
  const lines = text.match(/[^\n]*\n/g) ?? [];
  const kept: readonly JsonValue[] = Array.isArray(value) ? value : [];
  const places: PlacedLines[] = [];
  let from = 0;
  for (const place of kept) {
    if (!isObject(place) || typeof place.behind !== "string") return [];
    if (typeof place.lines !== "number") return [];
    const own = lines.slice(from, from + place.lines);
    const ahead = typeof place.ahead === "string" ? { ahead: place.ahead } : {};
    const whole = place.whole === true ? { whole: true, ...parseGone(place) } : {};
    const text = own.join("");
    const further = { ...parseBlanks(place), ...whole, ...parseStood(place) };
    places.push({ behind: place.behind, text, ...ahead, ...further });
    from += own.length;
  }
  return from === lines.length ? places : [];
}

function parseGone({ gone }: JsonObject): Pick<PlacedLines, "gone"> {
  return isIntegers(gone) ? { gone } : {};
}

function parseStood({ stood }: JsonObject): Pick<PlacedLines, "stood"> {
  return isIntegers(stood) ? { stood } : {};
}

function isIntegers(value: JsonValue | undefined): value is number[] {
  return Array.isArray(value) && value.every((each) => Number.isInteger(each));
}

function parseBlanks({ before, after }: JsonObject): Pick<PlacedLines, "before" | "after"> {
  const isCount = (value: JsonValue | undefined) =>
    Number.isInteger(value) && Number(value) > 0 && Number(value) <= BLANKS_MAX;
  return {
    ...(isCount(before) && { before: Number(before) }),
    ...(isCount(after) && { after: Number(after) }),
  };
}

/** A time that a date can have; undefined for any other. */
function timeIn(value: JsonValue | undefined): number | undefined {
  const isTime = typeof value === "number" && Math.abs(value) <= TIME_MAX;
  return isTime ? value : undefined;
}

function parseRemoval(value: JsonValue | undefined): LineRemoval | undefined {
  if (!isObject(value)) return undefined;
  return { machine: machineName(value.machine), at: timeIn(value.at) };
}

function parseVersion(value: JsonValue): TextVersion | undefined {
  if (!isObject(value) || typeof value.text !== "string") return undefined;
  return {
    text: value.text,
    cut: value.cut === true,
    machine: machineName(value.machine),
    home: parseHomeId(value.home),
    at: timeIn(value.at),
    removed: parseRemoval(value.removed),
    places: parsePlaces(value.places, value.text),
    isStanding: value.stands === true,
  };
}
