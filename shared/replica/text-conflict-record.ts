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
  /** Whole lines, each with its line break. */
  readonly text: string;
  /** It was too long: this is its beginning. The whole is in the text, or in its history. */
  readonly cut: boolean;
  /** Who wrote it; undefined where that is not known. */
  readonly machine: string | undefined;
}

/**
 * What a document says of a place that two machines changed differently: both versions are, or
 * were, in the text, one after the other. As metadata of the program's own it is on every machine.
 */
export interface TextConflictRecord {
  readonly id: string;
  /** When the two met, in milliseconds since the Unix epoch. */
  readonly foundAt: number;
  readonly versions: readonly [TextVersion, TextVersion];
}

/**
 * Records a conflict, unless its document does already, and forgets those that are too many, or too
 * old at `time` (see `historyTime`). Whichever machine finds it, its id and its order of versions
 * are the same.
 */
export function recordTextConflict(
  document: ReplicaDocument,
  versions: readonly [Omit<TextVersion, "cut">, Omit<TextVersion, "cut">],
  now: number,
  time: number = now,
): void {
  const ordered = [...versions].sort((one, other) => (one.text < other.text ? -1 : 1));
  const id = textConflictId(ordered.map(({ text }) => text));
  const key = TEXT_CONFLICT_PREFIX + id;
  if (document.metadata.get(key).length === 0) {
    document.setEntry("metadata", key, storedRecord(ordered, now), { now });
  }
  forgetSurplus(document, time);
}

/** Eight characters that say which two versions met. */
function textConflictId(texts: readonly string[]): string {
  const digest = createHash("sha256").update(JSON.stringify(texts)).digest();
  return base32(digest).slice(0, ID_LENGTH);
}

function storedRecord(versions: readonly Omit<TextVersion, "cut">[], now: number): JsonObject {
  const stored = (textMax: number): JsonObject => ({
    found_at: now,
    versions: versions.map(({ text, machine }) => ({
      text: text.slice(0, textMax),
      cut: text.length > textMax,
      machine: machine ?? null,
    })),
  });
  const whole = stored(Number.POSITIVE_INFINITY);
  const isLong = exceedsBytes(JSON.stringify(whole), LIMITS.metadataBytes);
  return isLong ? stored(CUT_LENGTH) : whole;
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
  return { id, foundAt: value.found_at, versions: [one, other] };
}

function parseVersion(value: JsonValue): TextVersion | undefined {
  if (!isObject(value) || typeof value.text !== "string") return undefined;
  return { text: value.text, cut: value.cut === true, machine: machineName(value.machine) };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
