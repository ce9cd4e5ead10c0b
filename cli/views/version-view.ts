import { parseTimestamp, timestampOf } from "../../shared/timestamps.ts";
import type { Version } from "../local/local-history.ts";
import { shortName, table } from "../screen/output.ts";

/**
 * A time for people: to the minute, in UTC.
 *
 * ```
 * timeShown(0); // "1970-01-01 00:00Z"
 * ```
 */
export function timeShown(epochMs: number): string {
  return `${timestampOf(epochMs).slice(0, "yyyy-mm-ddThh:mm".length).replace("T", " ")}Z`;
}

/** A machine's name for tables. */
export function machineShown(machine: string | undefined): string {
  return machine ?? "unknown";
}

/** The same in a sentence, which says nothing of a machine that is not known. */
export function onMachine(machine: string | undefined): string {
  return machine === undefined ? "" : ` on ${machine}`;
}

/** The lines of a text, indented, for whole values between other lines. */
export function indentedText(text: string): string[] {
  return text
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .map((line) => `    ${line}`.trimEnd());
}

/** A time of the interface as `timeShown` shows it; what is no time as it is. */
export function timestampShown(timestamp: string): string {
  const time = parseTimestamp(timestamp);
  return time === undefined ? timestamp : timeShown(time);
}

/** One line for each version, under a heading; `last` fills the last column. */
export function versionTable(
  versions: readonly Version[],
  heading: string,
  last: (version: Version) => string,
): string[] {
  const rows = versions.map((version) => [
    version.revision,
    timeShown(version.writtenAt),
    shortName(machineShown(version.machine)),
    version.state,
    last(version),
  ]);
  // Ids of conflicts are there to be typed.
  const isLastWhole = versions.some(({ save }) => save !== undefined && save.conflicts.length > 0);
  const headings = ["REV", "WRITTEN", "MACHINE", "STATE", heading];
  return table([headings, ...rows], SPARE, { isLastWhole });
}

/** The columns to leave out first: machine and state. */
const SPARE = [2, 3];

/** The outcome of a save into a followed file here; "" for a version that was not saved so. */
export function saveShown({ save }: Version): string {
  if (!save) return "";
  const ids = save.conflicts.join(", ");
  return SAVE_WORDS[save.outcome] + (ids === "" ? "" : ` ${ids}`);
}

const SAVE_WORDS = {
  taken: "saved here",
  conflict: "saved here, conflict",
  held: "saved here, held",
  known: "brought by git",
  waiting: "saved here, waits",
  overtaken: "saved here, then saved over or removed",
} as const;

/** A version's part of `--json`. */
export function versionJson({ revision, state, machine, writtenAt, replacedAt }: Version) {
  return {
    rev: state === "deleted" ? null : revision,
    state,
    machine: machine ?? null,
    written_at: timestampOf(writtenAt),
    replaced_at: replacedAt === undefined ? null : timestampOf(replacedAt),
  };
}
