import { isDate } from "node:util/types";
import { parseTimestamp } from "../../../shared/timestamps.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import type { EmulatorDuration, EmulatorTime } from "../interface/emulator.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const DURATION = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;

/** Times beyond this one have no timestamp of four digits for the year. */
const LATEST_MS = Date.UTC(9999, 0, 1);

/** A hundred years: more is a mistake. */
const LONGEST_MS = 100 * 365.25 * 86_400_000;

/** Milliseconds since the Unix epoch. Throws a 400 that points at `path`. */
export function parseTime(time: EmulatorTime, path: string): number {
  const at = msOf(time);
  if (at !== undefined && at >= 0 && at < LATEST_MS) return Math.floor(at);
  const form = "must be an ISO 8601 timestamp, or milliseconds since 1970";
  throw refusedAt(path, at === undefined ? form : "must be from 1970 to the end of 9998");
}

/** What another language takes for a number, as null or a list, is none. */
function msOf(time: unknown): number | undefined {
  if (typeof time === "string") return parseTimestamp(time);
  if (isDate(time)) return time.getTime();
  return typeof time === "number" ? time : undefined;
}

/** Milliseconds. Throws a 400 that points at `path`. */
export function parseDuration(duration: EmulatorDuration, path: string): number {
  const [, count, unit = ""] = (typeof duration === "string" && DURATION.exec(duration)) || [];
  const ms = typeof duration === "number" ? duration : Number(count) * (UNIT_MS[unit] ?? 1);
  if (ms >= 0 && ms <= LONGEST_MS) return Math.floor(ms);
  const form = "must be milliseconds, or a number with its unit (ms, s, m, h, d)";
  throw refusedAt(path, `${form}, at most a hundred years`);
}
