/// <reference lib="es2024.string" />

import type { JsonValue } from "../../json.ts";

/** The last moment that the interface's timestamps can express: the end of the year 9999. */
export const ENTRY_TIME_MAX = 253_402_300_799_999;

/**
 * A time within the range of entries, whatever the clock says; milliseconds since the Unix epoch.
 */
export function entryTime(timeMs: number): number {
  return Math.min(Math.max(Math.trunc(timeMs), 0), ENTRY_TIME_MAX);
}

/**
 * The value with each lone surrogate replaced by U+FFFD. UTF-8, in which updates are sent and
 * stored, has none, so a replica that kept one would differ from all others.
 */
export function wellFormedValue(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormedValue);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormedValue(inner)]),
  );
}
