import { constants, type Dirent } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { TranscriptFile } from "./transcript-file.ts";

/** The folder's entries; none where it can't be read. */
export async function folderEntries(folder: string): Promise<Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch(() => []);
}

/** The names of the folders in a folder. Symbolic links are none. */
export async function foldersIn(folder: string): Promise<string[]> {
  return (await folderEntries(folder)).filter((each) => each.isDirectory()).map(({ name }) => name);
}

/** What is asked of a regular file; undefined for anything else, and where it is gone again. */
export async function transcriptAt(
  folder: string,
  name: string,
  { form, ...known }: Pick<TranscriptFile, "form" | "id" | "cwd">,
): Promise<TranscriptFile | undefined> {
  const path = join(folder, name);
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  const { size, mtimeMs, ino } = stats;
  return { path, size, modifiedMs: mtimeMs, inode: `${ino}`, form, ...known };
}

/** A small text file's content, trimmed; undefined where there is none. */
export async function smallText(path: string, bytesMax = 65_536): Promise<string | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > bytesMax) return undefined;
    return (await handle.readFile("utf8")).trim() || undefined;
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}
