import { type SchemaOptions, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";
import { ERROR_DETAILS_MAX, type ErrorDetail } from "../errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../json.ts";
import { LIMITS, utf8Bytes } from "../limits.ts";
import { pointerToken } from "./parse.ts";
import { wellFormed } from "./well-formed.ts";

/** Any JSON object. Its content is not checked, whatever the annotations say. */
export function jsonObject<T extends object>(annotations: SchemaOptions = {}): TUnsafe<T> {
  const options = { expected: "an object", ...annotations };
  return Type.Unsafe<T>(Type.Record(Type.String(), Type.Unknown(), options));
}

/** The prefix of memsync's own metadata keys: hidden in answers, refused in requests. */
const RESERVED_METADATA_PREFIX = "memsync.";

/** Metadata fields that the published interface names; both are strings. */
const PUBLISHED_STRINGS = ["language", "framework"];

/** Those fields as schemas: as they are stored, and as a request sends them. */
export const METADATA_FIELDS = {
  stored: fieldsOf(Type.String()),
  sent: fieldsOf(Type.Union([Type.String(), Type.Null()])),
};

function fieldsOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(PUBLISHED_STRINGS.map((name) => [name, schema]));
}

/**
 * Metadata of a request, well formed and in fresh objects; `path`: the JSON Pointer of the whole. A
 * `null` at the top level is kept, because it removes a key. Anything that may not be stored is
 * added to `details`: a reserved key, `__proto__`, a NUL character, more than
 * `LIMITS.metadataDepth` levels (the object itself is the first), or more than
 * `LIMITS.metadataBytes` as JSON. The result is valid only if nothing was added.
 */
export function parseMetadata(value: unknown, path: string, details: ErrorDetail[]): JsonObject {
  const known = details.length;
  if (!isObject(value)) {
    details.push({ path, message: "must be an object" });
    return {};
  }
  const metadata = copyObject(value, path, { depth: 1, details });
  for (const key of Object.keys(metadata)) {
    const place = `${path}/${pointerToken(key)}`;
    if (key === "") details.push({ path: place, message: "must not be an empty key" });
    if (key.startsWith(RESERVED_METADATA_PREFIX)) {
      details.push({ path: place, message: `must not begin with ${RESERVED_METADATA_PREFIX}` });
    }
    if (PUBLISHED_STRINGS.includes(key) && !isStringOrNull(metadata[key])) {
      details.push({ path: place, message: "must be a string" });
    }
  }
  if (details.length === known && utf8Bytes(JSON.stringify(metadata)) > LIMITS.metadataBytes) {
    details.push({ path, message: `must be at most ${LIMITS.metadataBytes} bytes as JSON` });
  }
  return metadata;
}

/** `parseMetadata` of a body's `metadata`; undefined if there is none of the right type. */
export function metadataIn(body: unknown, details: ErrorDetail[]): JsonObject | undefined {
  if (!isObject(body) || !isObject(body.metadata)) return undefined;
  return parseMetadata(body.metadata, "/metadata", details);
}

function isStringOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}

function copy(
  value: unknown,
  path: string,
  { depth, details }: { readonly depth: number; readonly details: ErrorDetail[] },
): JsonValue {
  // Enough errors are known. The copy will not be used.
  if (details.length > ERROR_DETAILS_MAX) return null;
  if (typeof value === "string") return copyText(value, path, details);
  if (typeof value === "number" && !Number.isFinite(value)) {
    details.push({ path, message: "is a number too large to be kept" });
    return null;
  }
  // What is left of what JSON can say is a finite number, a boolean or null.
  if (typeof value !== "object" || value === null) return value as JsonValue;
  if (depth > LIMITS.metadataDepth) {
    details.push({ path, message: `must not be nested over ${LIMITS.metadataDepth} levels deep` });
    return null;
  }
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      copy(item, `${path}/${index}`, { depth: depth + 1, details }),
    );
  }
  return copyObject(value, path, { depth, details });
}

function copyObject(
  value: object,
  path: string,
  { depth, details }: { readonly depth: number; readonly details: ErrorDetail[] },
): { [key: string]: JsonValue } {
  const fresh: { [key: string]: JsonValue } = {};
  for (const [rawKey, item] of Object.entries(value)) {
    const key = copyText(rawKey, path, details);
    const place = `${path}/${pointerToken(key)}`;
    if (key === "__proto__") {
      // Assigning it would set the prototype, and the key would be lost.
      details.push({ path: place, message: "must not be used as a key" });
    } else if (Object.hasOwn(fresh, key)) {
      details.push({ path: place, message: "is given twice once it is well formed" });
    } else {
      fresh[key] = copy(item, place, { depth: depth + 1, details });
    }
  }
  return fresh;
}

function copyText(value: string, path: string, details: ErrorDetail[]): string {
  if (value.includes("\0")) details.push({ path, message: "must not contain a NUL character" });
  return wellFormed(value);
}
