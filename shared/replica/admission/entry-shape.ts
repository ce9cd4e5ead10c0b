import { exceedsBytes, LIMITS } from "../../limits.ts";
import type { EntryKind } from "../document/entry-arrays.ts";
import { ENTRY_TIME_MAX } from "../document/stored-value.ts";

const FIELDS: ReadonlySet<string> = new Set(["key", "value", "created_at", "updated_at", "source"]);

/** Size of the optional `source`, which tells where an entry came from. */
const SOURCE_BYTES_MAX = 512;

/** What is wrong with an entry from outside; undefined for a correct one. */
export function foreignEntry(entry: unknown, kind: EntryKind): string | undefined {
  if (!isPlainObject(entry)) return "an entry is not an object";
  if (Object.keys(entry).some((field) => !FIELDS.has(field)))
    return "an entry has a field too many";
  const { key, value, created_at: created, updated_at: updated, source } = entry;
  if (!isKey(key, kind)) return "an entry's key is too long or not a text";
  if (!isTime(created) || !isTime(updated)) return "an entry's time is not one";
  if (source !== undefined && !isText(source, SOURCE_BYTES_MAX)) {
    return "an entry's source is too long or not a text";
  }
  if (kind === "metadata") return foreignMetadata(value);
  if (isText(value, LIMITS.memoryValueBytes)) return undefined;
  return "a memory's value is too long or not a text";
}

/** Metadata has one limit for all of its keys and values together. */
function foreignMetadata(value: unknown): string | undefined {
  if (!isJson(value, LIMITS.metadataDepth)) return "a metadata value is not JSON or nests too deep";
  if (!exceedsBytes(JSON.stringify(value), LIMITS.metadataBytes)) return undefined;
  return "a metadata value is too long";
}

function isKey(key: unknown, kind: EntryKind): boolean {
  // No object of JSON that is read could have it: REST refuses it, too.
  if (kind === "metadata") return key !== "__proto__" && isText(key, LIMITS.metadataBytes);
  return key !== "" && isText(key, LIMITS.memoryKeyBytes);
}

function isText(value: unknown, bytesMax: number): value is string {
  return typeof value === "string" && !value.includes("\0") && !exceedsBytes(value, bytesMax);
}

function isTime(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= ENTRY_TIME_MAX;
}

/** Whether a decoded value is JSON, with at most this many levels of objects. */
function isJson(value: unknown, levels: number): boolean {
  if (typeof value === "string") return !value.includes("\0");
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "boolean" || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((inner) => isJson(inner, levels - 1));
  if (!isPlainObject(value)) return false;
  return Object.entries(value).every(
    ([key, inner]) => !key.includes("\0") && isJson(inner, levels - 1),
  );
}

/**
 * Decoding a key `__proto__` replaces an object's prototype, and its fields are no longer its own.
 */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}
