import { parseActivity } from "../../daemon/home/activity.ts";
import { isObject } from "../../shared/json.ts";
import { activityLine } from "./activity-view.ts";
import { visible } from "./visible.ts";

/** Fields of a log line with a column of their own. The others follow as `name=value`. */
const APART = ["level", "time", "msg", "pid", "hostname"];

const LEVELS: Readonly<Record<string, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};
const LEVEL_WIDTH = 5;

/** Marks a log line whose `reason` the daemon also prints on standard error. */
export const COULD_NOT_START = { code: "could-not-start" } as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A line of the daemon's log for a person. A line that is no JSON, such as a crash, is unchanged.
 */
export function logLine(line: string): string {
  const fields = parseFields(line);
  if (!fields || typeof fields.msg !== "string") return visible(line);
  const level = LEVELS[String(fields.level)] ?? String(fields.level ?? "");
  const head = `${timeText(fields.time)}${level.padEnd(LEVEL_WIDTH)}`;
  const activity = parseActivity(fields);
  if (activity) return visible(`${head}  ${activityLine(activity)}`);
  const rest = Object.entries(fields)
    .filter(([name]) => !APART.includes(name))
    .map(([name, value]) => ` ${name}=${valueText(value)}`);
  return visible(`${head}  ${fields.msg}${rest.join("")}`);
}

/** A line of the daemon's log as JSON, whatever it was. */
export function logJson(line: string): string {
  return parseFields(line) ? line : JSON.stringify({ msg: line });
}

/** The last messages of a daemon, each once and without times, for a sentence about its end. */
export function lastWords(lines: readonly string[]): string[] {
  return [...new Set(lines.map(wordsOf))];
}

function wordsOf(line: string): string {
  const fields = parseFields(line);
  if (!fields) return visible(line.replace(/^memsync: /, ""));
  const reason = typeof fields.reason === "string" ? fields.reason : undefined;
  if (reason !== undefined && fields.code === COULD_NOT_START.code) return visible(reason);
  return visible(reason === undefined ? String(fields.msg) : `${fields.msg}: ${reason}`);
}

function parseFields(line: string): Fields | undefined {
  try {
    const fields: unknown = JSON.parse(line);
    return isObject(fields) ? fields : undefined;
  } catch {
    return undefined;
  }
}

function timeText(time: unknown): string {
  const at = new Date(typeof time === "number" || typeof time === "string" ? time : Number.NaN);
  return Number.isNaN(at.getTime()) ? "" : `${at.toISOString()}  `;
}

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}
