import { createHash } from "node:crypto";
import { base32 } from "../ids.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { exceedsBytes, LIMITS } from "../limits.ts";
import type { ReplicaDocument } from "./document.ts";
import { machineName } from "./machines.ts";
import { TEXT_CONFLICT_PREFIX } from "./own-metadata.ts";
import { HISTORY } from "./revisions.ts";

const ID_LENGTH = 8;

/** Characters of a version that are kept where both together are too long for one entry. */
const CUT_LENGTH = 2000;

/** One of the two versions of a place in a text. */
export interface TextVersion {
  /** Whole lines, each with its line break; empty where this side has none there. */
  readonly text: string;
  /** It was too long: this is its beginning. The whole is in the text, or in its history. */
  readonly cut: boolean;
  /** Who wrote it, or took the lines away; undefined where that is not known. */
  readonly machine: string | undefined;
  /** When, in milliseconds since the Unix epoch; undefined where that is not known. */
  readonly at: number | undefined;
}

/**
 * What met.
 *
 * - `both`: two machines changed one place differently. Both versions are, or were, in the text.
 * - `unseen`: a save undid what others had just changed, and may not have seen it. What others
 *   added stays, and so does what the save has.
 * - `moved`: a save had lines where they were before others moved them. They stay where others
 *   moved them.
 * - `format`: a save undid the byte order mark, line endings or final newline that others had just
 *   given the text. The save's stand; `text` names each.
 * - `deletion`: more than half of the text's lines were deleted at once.
 * - `elsewhere`: git brought a version of the file that has lines which the document has not.
 * - `renewed`: a file was made anew after it was gone. What the document had beyond it stays.
 */
export type TextConflictKind = (typeof TEXT_CONFLICT_KINDS)[number];

export const TEXT_CONFLICT_KINDS = [
  "both",
  "unseen",
  "moved",
  "format",
  "deletion",
  "elsewhere",
  "renewed",
] as const;

/** Lines that stood together, and the line that they stood behind; "" at the beginning. */
export interface PlacedLines {
  readonly behind: string;
  readonly text: string;
}

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
  /** Where the lines of the version that has any stood; empty where that was not kept. */
  readonly places: readonly PlacedLines[];
  /** Of a `deletion`: how many lines went. */
  readonly lines: number | undefined;
}

/** A side of a conflict as it is recorded. */
export type NewVersion = Pick<TextVersion, "text" | "machine"> & { readonly at?: number };

/** A conflict as it is recorded. */
export interface NewTextConflict {
  readonly kind: TextConflictKind;
  readonly versions: readonly [NewVersion, NewVersion];
  readonly places?: readonly PlacedLines[];
  readonly lines?: number;
}

/**
 * Records a conflict, unless its document does already, and forgets those that are too many, or too
 * old at `time` (see `historyTime`). Whichever machine finds it, its id and its order of versions
 * are the same. Gives the id.
 */
export function recordTextConflict(
  document: ReplicaDocument,
  conflict: NewTextConflict,
  now: number,
  time: number = now,
): string {
  const [one, other] = conflict.versions;
  const versions = one.text <= other.text ? [one, other] : [other, one];
  const id = textConflictId(conflict.kind, versions);
  const key = TEXT_CONFLICT_PREFIX + id;
  if (document.metadata.get(key).length === 0) {
    document.setEntry("metadata", key, storedRecord({ ...conflict, now }, versions), { now });
  }
  forgetSurplus(document, time);
  return id;
}

/** Eight characters that say which two versions met. */
function textConflictId(kind: TextConflictKind, versions: readonly NewVersion[]): string {
  const texts = versions.map(({ text }) => text);
  // What a save may not have seen is the same place that two machines changed.
  const named = kind === "both" || kind === "unseen" ? texts : [kind, ...texts];
  const digest = createHash("sha256").update(JSON.stringify(named)).digest();
  return base32(digest).slice(0, ID_LENGTH);
}

type Recorded = Omit<NewTextConflict, "versions"> & { readonly now: number };

/** Whole where it fits, else without the places, else cut. */
function storedRecord(recorded: Recorded, versions: readonly NewVersion[]): JsonObject {
  const whole = storedAs(recorded, versions, Number.POSITIVE_INFINITY);
  if (fits(whole)) return whole;
  const { places: _, ...withoutPlaces } = recorded;
  const unplaced = storedAs(withoutPlaces, versions, Number.POSITIVE_INFINITY);
  return fits(unplaced) ? unplaced : storedAs(withoutPlaces, versions, CUT_LENGTH);
}

function fits(record: JsonObject): boolean {
  return !exceedsBytes(JSON.stringify(record), LIMITS.metadataBytes);
}

function storedAs(
  { kind, places, lines, now }: Omit<Recorded, "versions">,
  versions: readonly NewVersion[],
  textMax: number,
): JsonObject {
  return {
    ...(kind !== "both" && { kind }),
    found_at: now,
    ...(lines !== undefined && { lines }),
    versions: versions.map(({ text, machine, at }) => ({
      text: text.slice(0, textMax),
      cut: text.length > textMax,
      machine: machine ?? null,
      ...(at !== undefined && { at }),
    })),
    ...(places && { places: places.map(({ behind, text }) => ({ behind, text })) }),
  };
}

function forgetSurplus(document: ReplicaDocument, time: number): void {
  const records = [...document.metadata.keys()]
    .filter((key) => key.startsWith(TEXT_CONFLICT_PREFIX))
    .map((key) => ({ key, foundAt: foundAt(document.metadata.get(key)[0]?.value) }))
    .sort((one, other) => other.foundAt - one.foundAt);
  for (const [at, record] of records.entries()) {
    const isKept = at < HISTORY.conflictsPerDocument && time - record.foundAt <= HISTORY.ageMs;
    if (!isKept) document.deleteEntry("metadata", record.key);
  }
}

function foundAt(value: JsonValue | undefined): number {
  return parseTextConflict("", value)?.foundAt ?? 0;
}

/** Reads what a document says; undefined for what no memsync has written. */
export function parseTextConflict(
  id: string,
  value: JsonValue | undefined,
): TextConflictRecord | undefined {
  if (!isObject(value) || typeof value.found_at !== "number") return undefined;
  const stored = Array.isArray(value.versions) ? value.versions : [];
  const [one, other, ...more] = stored.map(parseVersion);
  if (!one || !other || more.length > 0) return undefined;
  const kind = TEXT_CONFLICT_KINDS.find((each) => each === value.kind) ?? "both";
  const lines = typeof value.lines === "number" ? value.lines : undefined;
  const places = Array.isArray(value.places) ? value.places.flatMap(parsePlace) : [];
  return { id, kind, foundAt: value.found_at, versions: [one, other], places, lines };
}

/** What a document says, in the order of its keys. */
export function listTextConflicts({ metadata }: ReplicaDocument): TextConflictRecord[] {
  return [...metadata.keys()].flatMap((key) => {
    if (!key.startsWith(TEXT_CONFLICT_PREFIX)) return [];
    const id = key.slice(TEXT_CONFLICT_PREFIX.length);
    return parseTextConflict(id, metadata.get(key)[0]?.value) ?? [];
  });
}

function parsePlace(value: JsonValue): PlacedLines[] {
  if (!isObject(value)) return [];
  const { behind, text } = value;
  return typeof behind === "string" && typeof text === "string" ? [{ behind, text }] : [];
}

function parseVersion(value: JsonValue): TextVersion | undefined {
  if (!isObject(value) || typeof value.text !== "string") return undefined;
  return {
    text: value.text,
    cut: value.cut === true,
    machine: machineName(value.machine),
    at: typeof value.at === "number" ? value.at : undefined,
  };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
