import { spawnSync } from "node:child_process";
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { isObject } from "../../shared/json.ts";
import type { Home } from "../home/home.ts";
import { type Started, startedOf } from "./introduction.ts";

const PRIVATE_FILE = 0o600;

/** The process of a home's daemon, as written by that process. */
export interface DaemonRecord {
  readonly pid: number;
  readonly started: Started;
  /** It was ready once, so a silence since then is not a slow start. */
  readonly ready: boolean;
}

/** The caller must hold the home's lock. */
export function writeRecord(home: Home, record: DaemonRecord): void {
  writeFileSync(home.record, JSON.stringify(record), { mode: PRIVATE_FILE });
}

export function removeRecord(home: Home): void {
  rmSync(home.record, { force: true });
}

/**
 * The process that holds the home's lock, if its record exists and the operating system confirms
 * it: the number in the file may belong to another process by now.
 */
export function findHolder(home: Home): DaemonRecord | undefined {
  const record = readRecord(home);
  return record && hasOpen(record.pid, home.lock) ? record : undefined;
}

function readRecord(home: Home): DaemonRecord | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(home.record, "utf8"));
    const { pid, started, ready } = isObject(record) ? record : {};
    if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 1) return undefined;
    return { pid, started: startedOf(started), ready: ready === true };
  } catch {
    return undefined;
  }
}

function hasOpen(pid: number, path: string): boolean {
  if (process.platform === "linux") return openFiles(pid).includes(realpathSync(path));
  if (process.platform === "win32") return false;
  const { stdout } = spawnSync("lsof", ["-t", "--", path], { encoding: "utf8" });
  return (stdout ?? "").split("\n").includes(String(pid));
}

function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => linkAt(`${folder}/${name}`));
  } catch {
    return [];
  }
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
