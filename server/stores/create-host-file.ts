import { linkSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  createPrivateFile,
  PRIVATE_FILE,
  syncFile,
  syncFolderOf,
} from "../../shared/durable-files.ts";

/**
 * Makes the file of a new database, which only its owner can read: it is there whole, and on the
 * disk, or not at all. It is written as it was prepared, because making every table takes longer
 * than all else of a start, and waits for the disk a dozen times. Throws where something exists
 * already.
 */
export async function createHostFile(path: string): Promise<void> {
  const folder = mkdtempSync(`${path}.new-`);
  try {
    const prepared = join(folder, "empty.db");
    const { EMPTY_DATABASE } = await import("./empty-database.ts");
    const bytes = gunzipSync(Buffer.from(EMPTY_DATABASE, "base64"));
    writeFileSync(prepared, bytes, { mode: PRIVATE_FILE });
    await syncFile(prepared);
    linkOrCreate(prepared, path);
  } finally {
    rmSync(folder, { recursive: true });
  }
  await syncFolderOf(path);
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
