const ISO =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(Z|[+-]([01]\d|2[0-3]):?([0-5]\d))$/;

/** The interface's own form, on a day that every month has: no runtime reads it otherwise. */
const USUAL =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** ISO 8601 in UTC with milliseconds and `Z`: the form of every timestamp of the interface. */
export function timestampOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/**
 * Milliseconds since the Unix epoch of an ISO 8601 date and time with an offset; finer fractions
 * are cut off. Undefined for anything else, including days that a month does not have, about which
 * the runtimes' own parsers disagree.
 */
export function parseTimestamp(value: string): number | undefined {
  if (USUAL.test(value)) return Date.parse(value);
  const match = ISO.exec(value);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const ms = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  date.setUTCHours(hour ?? 0, minute ?? 0, second ?? 0, ms);
  const offsetMin = Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0);
  const sign = match[8]?.startsWith("-") ? -1 : 1;
  const epochMs = date.getTime() - sign * offsetMin * 60_000;
  return timestampOf(epochMs).length === 24 ? epochMs : undefined;
}
