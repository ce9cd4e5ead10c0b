import { open } from "node:fs/promises";

/** Writes a folder's names to the disk. Without this a new file may be gone after a power loss. */
export async function flushFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
