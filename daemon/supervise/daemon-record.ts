import { spawnSync } from "node:child_process";
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { Home } from "../home/home.ts";
import type { Started } from "./introduction.ts";

const PRIVATE_FILE = 0o600;

/** Which process the daemon of a home is, as it wrote itself. */
export interface DaemonRecord {
  readonly pid: number;
  readonly started: Started;
  /** It has answered once, so that silence since then is no slow start. */
  readonly ready: boolean;
}

/** To be called by whoever holds the home's lock. */
export function writeRecord(home: Home, record: DaemonRecord): void {
  writeFileSync(home.record, JSON.stringify(record), { mode: PRIVATE_FILE });
}

export function removeRecord(home: Home): void {
  rmSync(home.record, { force: true });
}

/**
 * The process that holds the home's lock, if it says which it is and the operating system says the
 * same: a number in a file may by now be that of a stranger.
 */
export function findHolder(home: Home): DaemonRecord | undefined {
  const record = readRecord(home);
  return record && hasOpen(record.pid, home.lock) ? record : undefined;
}

function readRecord(home: Home): DaemonRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(home.record, "utf8")) as DaemonRecord;
    return Number.isInteger(record.pid) && record.pid > 1 ? record : undefined;
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
