import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Home } from "../../daemon/home/home.ts";
import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { isObject } from "../../shared/json.ts";
import type { Notice, Notices } from "./notice.ts";

/** Suffix of the file that says that a notice was shown. */
const SEEN = ".seen";
const PART = ".part";
/** The content of such a file while the daemon has not logged the notice: a command was quicker. */
const UNLOGGED = "unlogged";

/**
 * Reads the notices that were not shown yet. Each notice is a file in one folder, and another
 * beside it says that it was shown. Files appear and disappear completely, so that commands and the
 * daemon need not wait for each other.
 */
export function readUnseen({ notices: folder }: Home): Notice[] {
  const names = new Set(namesIn(folder));
  const unseen = [...names].filter((name) => isNotice(name) && !names.has(name + SEEN));
  return unseen.sort().flatMap((name) => readNotice(join(folder, name)) ?? []);
}

/** The names of the files that there are, to be read before the notices are looked up. */
export function listNoticeFiles({ notices: folder }: Home): string[] {
  return namesIn(folder);
}

/**
 * Makes the files match the current notices. Returns the new ones, which are to be logged, even if
 * a command has shown them already. `before`: the files from before the notices were looked up; a
 * later one may be about what came meanwhile.
 */
export function keepNotices(
  { notices: folder }: Home,
  now: Notices,
  before: readonly string[],
): Notice[] {
  const names = new Set(namesIn(folder));
  const fresh: Notice[] = [];
  for (const [name, notice] of now) {
    if (names.has(name)) continue;
    if (names.has(name + SEEN)) {
      if (!isUnlogged(folder, name)) continue;
      put(folder, name + SEEN, "");
    } else put(folder, name, JSON.stringify(notice));
    fresh.push(notice);
  }
  for (const name of before) {
    const known = name.endsWith(SEEN) ? name.slice(0, -SEEN.length) : name;
    if (!now.has(known)) rmSync(join(folder, name), { force: true });
  }
  return fresh;
}

/**
 * Marks notices as shown, even those for which the daemon has not written a file yet. In a home
 * that can't be written they are shown again.
 */
export function markSeen({ notices: folder }: Home, names: readonly string[]): void {
  try {
    for (const name of names) {
      if (existsSync(join(folder, name + SEEN))) continue;
      put(folder, name + SEEN, UNLOGGED);
      if (!existsSync(join(folder, name))) continue;
      put(folder, name + SEEN, "");
      rmSync(join(folder, name), { force: true });
    }
  } catch {
    // The command's own output matters more.
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function isNotice(name: string): boolean {
  return !name.endsWith(SEEN) && !name.endsWith(PART);
}

/** False where another command has just removed the file. */
function isUnlogged(folder: string, name: string): boolean {
  try {
    return readFileSync(join(folder, name + SEEN), "utf8") === UNLOGGED;
  } catch {
    return false;
  }
}

/** A reader finds the whole file or none. */
function put(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  const part = join(folder, `${name}.${process.pid}${PART}`);
  writeFileSync(part, text);
  renameSync(part, join(folder, name));
}

/** Undefined where it has just been removed, and for what is no notice. */
function readNotice(path: string): Notice | undefined {
  try {
    const notice: unknown = JSON.parse(readFileSync(path, "utf8"));
    const { kind, where, what, joined } = isObject(notice) ? notice : {};
    if (typeof where !== "string" || typeof what !== "string") return undefined;
    if (kind === "conflict" || kind === "held") return { kind, where, what };
    const read = kind === "joined" ? readJoined(joined) : undefined;
    return read && { kind: "joined", where, what, joined: read };
  } catch {
    return undefined;
  }
}

function readJoined(value: unknown): JoinedStatus | undefined {
  const read = isObject(value) ? value : {};
  const { id, name, from, at, machine, here, dirs, is_return, is_deleted, is_left } = read;
  if ([id, from, at].some((each) => typeof each !== "string")) return undefined;
  if (!Array.isArray(dirs)) return undefined;
  return {
    id: String(id),
    from: String(from),
    at: String(at),
    name: textOf(name),
    machine: textOf(machine),
    is_return: is_return === true,
    is_deleted: is_deleted === true,
    is_left: is_left === true,
    here: here === true,
    dirs: dirs.filter((dir) => typeof dir === "string"),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
