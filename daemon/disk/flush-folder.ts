import { open } from "node:fs/promises";

/** Puts a folder's names on the disk: a new one is there only once its folder is. */
export async function flushFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
