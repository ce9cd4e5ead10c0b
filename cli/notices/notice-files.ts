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
import type { Notice, Notices } from "./notice.ts";

/** Beside a notice's name: it was shown. */
const SEEN = ".seen";
const PART = ".part";

/**
 * The notices of a home lie in a folder, a file each, and beside it an empty file once it was
 * shown. Files come and go whole, so that commands and the daemon need not wait for each other.
 */
export function readUnseen({ notices: folder }: Home): Notice[] {
  const names = new Set(namesIn(folder));
  const unseen = [...names].filter((name) => isNotice(name) && !names.has(name + SEEN));
  return unseen.sort().flatMap((name) => readNotice(join(folder, name)) ?? []);
}

/** Brings the files up to what there is now. Returns those that are new. */
export function keepNotices({ notices: folder }: Home, now: Notices): Notice[] {
  const names = new Set(namesIn(folder));
  const fresh: Notice[] = [];
  for (const [name, notice] of now) {
    if (names.has(name) || names.has(name + SEEN)) continue;
    put(folder, name, JSON.stringify(notice));
    fresh.push(notice);
  }
  for (const name of names) {
    const known = name.endsWith(SEEN) ? name.slice(0, -SEEN.length) : name;
    if (!now.has(known)) rmSync(join(folder, name), { force: true });
  }
  return fresh;
}

/**
 * These were shown: nobody is told of them any more, not even where the daemon has still to find
 * them. In a home that can't be written they are told of again.
 */
export function markSeen({ notices: folder }: Home, names: readonly string[]): void {
  try {
    for (const name of names) {
      if (existsSync(join(folder, name + SEEN))) continue;
      put(folder, name + SEEN, "");
      rmSync(join(folder, name), { force: true });
    }
  } catch {
    // What was asked for is shown all the same.
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function isNotice(name: string): boolean {
  return !name.endsWith(SEEN) && !name.endsWith(PART);
}

/** Whoever reads it finds all of it or nothing. */
function put(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  const part = join(folder, `${name}.${process.pid}${PART}`);
  writeFileSync(part, text);
  renameSync(part, join(folder, name));
}

/** Undefined where it has just gone. */
function readNotice(path: string): Notice | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Notice;
  } catch {
    return undefined;
  }
}
