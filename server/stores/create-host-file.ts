import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createPrivateFile, PRIVATE_FILE } from "../../shared/durable-files.ts";
import { EMPTY_DATABASE } from "./empty-database.ts";

/**
 * Makes the file of a new database, which only its owner can read. The file is there as a whole,
 * and on the disk, or not at all. It is a copy of a prepared one: making the tables one by one
 * would take longer than all the rest of a start, and wait for the disk a dozen times. Throws where
 * something exists already.
 */
export function createHostFile(path: string): void {
  const folder = mkdtempSync(`${path}.new-`);
  try {
    const prepared = join(folder, "empty.db");
    writeFileSync(prepared, preparedBytes(), { mode: PRIVATE_FILE });
    syncNow(prepared, "r+");
    linkOrCreate(prepared, path);
  } finally {
    rmSync(folder, { recursive: true });
  }
  syncNow(dirname(path), "r");
}

function preparedBytes(): Uint8Array {
  return gunzipSync(Buffer.from(EMPTY_DATABASE, "base64"));
}

/** Where a file's head says by which journal it is written and read: 1 for none of its own. */
const JOURNAL_BYTES = [18, 19];

/** The same for a database in memory, which can have no write-ahead log. */
export function emptyInMemory(): Uint8Array {
  const bytes = preparedBytes();
  for (const at of JOURNAL_BYTES) bytes[at] = 1;
  return bytes;
}

/** Some systems can't do this to a folder, and don't need it. */
function syncNow(path: string, flags: "r" | "r+"): void {
  const opened = openSync(path, flags);
  try {
    fsyncSync(opened);
  } catch (thrown) {
    if (flags === "r+") throw thrown;
  } finally {
    closeSync(opened);
  }
}

/** A file system without links gets an empty file, of which SQLite makes a database by steps. */
function linkOrCreate(prepared: string, path: string): void {
  try {
    linkSync(prepared, path);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") throw thrown;
    createPrivateFile(path);
  }
}
