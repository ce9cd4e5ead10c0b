import { timestampOf } from "../../shared/timestamps.ts";

/** A time as it is shown: to the minute, in UTC. */
export function timeShown(epochMs: number): string {
  return `${timestampOf(epochMs).slice(0, "yyyy-mm-ddThh:mm".length).replace("T", " ")}Z`;
}

/** A machine as tables show it. */
export function machineShown(machine: string | undefined): string {
  return machine ?? "unknown";
}

/** The lines of a text, set in, for whole values between other lines. */
export function indentedText(text: string): string[] {
  return text
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .map((line) => `    ${line}`.trimEnd());
}
