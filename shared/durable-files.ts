import { closeSync, openSync } from "node:fs";
import { copyFile, link, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** The mode of a file that only its owner can read. */
export const PRIVATE_FILE = 0o600;

/** Creates an empty file that only its owner can read. Throws where something exists already. */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "wx", PRIVATE_FILE));
}

/** Resolves when the file's bytes are on the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Renames `from` to `to`, replacing whatever is there. Resolves when that is on the disk. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolderOf(to);
}

/** Gives a file a second name, or copies it where the file system has no links. */
export async function keepAs(path: string, name: string): Promise<void> {
  try {
    await link(path, name);
  } catch {
    await copyFile(path, name);
    await syncFile(name);
  }
  await syncFolderOf(name);
}

/** Resolves when the names in the folder of `path` are on the disk. */
async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } catch {
    // Some systems can't do this to a folder, and don't need it.
  } finally {
    await folder.close();
  }
}
