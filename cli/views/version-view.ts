import { parseTimestamp, timestampOf } from "../../shared/timestamps.ts";

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
