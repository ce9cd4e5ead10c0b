import pino from "pino";
import type { Log } from "../../shared/log.ts";

/** From the most to the fewest lines. A request's line is `info`. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** How much a program logs. */
export type LogLevel = (typeof LOG_LEVELS)[number];

const STANDARD_ERROR = 2;

/**
 * JSON lines on standard error, so that standard output has only the program's own words. Each line
 * is written before the call returns, so a crashing program's last words are there.
 */
export function openLog(level: LogLevel): Log {
  const formatters = { level: (label: string) => ({ level: label }) };
  const timestamp = pino.stdTimeFunctions.isoTime;
  const destination = pino.destination({ dest: STANDARD_ERROR, sync: true });
  return pino({ base: null, level, formatters, timestamp }, destination);
}
