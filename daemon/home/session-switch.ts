import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isObject, parseJson } from "../../shared/json.ts";
import { isMissing } from "../disk/read-file.ts";
import type { Home } from "./home.ts";

/** When no sessions were recorded, in milliseconds since the Unix epoch. */
export interface OffPeriod {
  readonly from: number;
  readonly until: number;
}

type Switch = Pick<Home, "noSessions" | "offPeriod">;

/** Whether sessions of assistants are recorded and sent. They are until somebody says otherwise. */
export function recordsSessions({ noSessions }: Pick<Home, "noSessions">): boolean {
  return !existsSync(noSessions);
}

/** Says so, for a daemon that runs as well, from its next look on. */
export function switchSessions(home: Switch, on: boolean, now: number): void {
  const { noSessions } = home;
  if (!on) {
    // Since the first time that somebody said so.
    if (recordsSessions(home)) writeFileSync(noSessions, String(now));
    return;
  }
  if (recordsSessions(home)) return;
  const former = readOffPeriod(home);
  const from = Math.min(offSince(home), former?.from ?? now);
  writeFileSync(home.offPeriod, JSON.stringify({ from, until: now }));
  rmSync(noSessions, { force: true });
}

/** Former versions did not write it down. */
function offSince({ noSessions }: Switch): number {
  const at = Number(readFileSync(noSessions, "utf8") || "none");
  return Number.isFinite(at) ? at : statSync(noSessions).mtimeMs;
}

/** When they were off, where nobody has looked since which of them ran then. */
function readOffPeriod({ offPeriod }: Switch): OffPeriod | undefined {
  try {
    const { from, until } = fieldsOf(readFileSync(offPeriod, "utf8"));
    // Nobody can tell any more: whatever there is may be of then.
    return typeof from === "number" && typeof until === "number"
      ? { from, until }
      : { from: 0, until: statSync(offPeriod).mtimeMs };
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

/** Nobody knows any more which sessions ran while they were off: nothing more of any until now. */
export function withholdAllSessions({ offPeriod }: Pick<Home, "offPeriod">, now: number): void {
  writeFileSync(offPeriod, JSON.stringify({ from: 0, until: now }));
}

function fieldsOf(text: string): { readonly from?: unknown; readonly until?: unknown } {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** It is known which sessions ran in it. */
function forgetOffPeriod(home: Switch, { until }: OffPeriod): void {
  if (readOffPeriod(home)?.until === until) rmSync(home.offPeriod, { force: true });
}

/** The switch as the keeper of sessions needs it. */
export function sessionSwitchOf(home: Switch) {
  return {
    isOn: () => recordsSessions(home),
    offPeriod: () => readOffPeriod(home),
    onOffPeriodSeen: (period: OffPeriod) => forgetOffPeriod(home, period),
  };
}
