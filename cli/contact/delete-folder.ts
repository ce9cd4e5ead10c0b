import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const PRIVATE_FOLDER = 0o700;

/** Processes that are just ending may still write into it. */
const OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

/**
 * Deletes a folder. Folders in it that may only be read, as those of Go's module cache, are made
 * writable first if they are ours.
 */
export async function deleteFolder(path: string): Promise<void> {
  try {
    await rm(path, OPTIONS);
  } catch {
    await makeDeletable(path);
    await rm(path, OPTIONS);
  }
}

/**
 * Leaves out folders of other users. They can't be deleted, and the deletion that follows says so.
 */
async function makeDeletable(path: string): Promise<void> {
  await chmod(path, PRIVATE_FOLDER).catch(() => {});
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await makeDeletable(join(path, entry.name));
  }
}
