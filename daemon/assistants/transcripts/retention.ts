import { dirname } from "node:path";
import type { TranscriptFile } from "./transcript-file.ts";

/** When an assistant deletes transcripts by itself. */
export interface Retention {
  /** Those without activity for this long. */
  readonly ageMs?: number;
  /** In each folder all but the latest so many. */
  readonly count?: number;
  /** What its settings call that. */
  readonly setting: string;
}

const DAY_MS = 86_400_000;
/** Soon is within this time; where the assistant keeps less than two weeks, in the second half. */
const SOON_MS = 7 * DAY_MS;

/** A number of days in milliseconds. */
export function daysMs(days: number): number {
  return days * DAY_MS;
}

/**
 * The transcripts that their assistant deletes soon, at its next start or within a week.
 *
 * ```
 * leavingSoon(files, { ageMs: daysMs(30), setting: "cleanupPeriodDays" }, now);
 * ```
 */
export function leavingSoon(
  files: readonly TranscriptFile[],
  { ageMs, count }: Retention,
  now: number,
): TranscriptFile[] {
  const before =
    ageMs === undefined ? Number.NEGATIVE_INFINITY : now - ageMs + Math.min(SOON_MS, ageMs / 2);
  const latest = files.toSorted((one, other) => other.modifiedMs - one.modifiedMs);
  const places = new Map<string, number>();
  return latest.filter(({ path, modifiedMs }) => {
    const folder = dirname(path);
    const place = (places.get(folder) ?? 0) + 1;
    places.set(folder, place);
    // The next session takes a place, too.
    return modifiedMs < before || (count !== undefined && place >= count);
  });
}
