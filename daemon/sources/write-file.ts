import { lstatSync, readFileSync, renameSync } from "node:fs";
import { lstat, mkdir, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { base32 } from "../../shared/ids.ts";
import type { World } from "../../shared/world.ts";
import { ABSENT_HASH, hashOf, isMissing } from "./read-file.ts";

const PERMISSIONS = 0o777;

/**
 * Replaces a file by `content` if it still has `expectedHash`: a temporary file beside it, flushed
 * to the disk, takes its name, and its mode. `changed`: someone saved it meanwhile, and it is left
 * as they did. Once written it survives a crash.
 */
export async function replaceFile(
  path: string,
  content: string,
  expectedHash: string,
  world: World,
): Promise<"written" | "changed"> {
  await mkdir(dirname(path), { recursive: true });
  const name = `.${basename(path)}.${base32(world.randomBytes(5))}.memsync`;
  const temporary = join(dirname(path), name);
  try {
    await writeDurably(temporary, content, await modeOf(path));
    // Nothing of this process comes in between: a save made after the look would be lost.
    if (hashAt(path) !== expectedHash) return "changed";
    renameSync(temporary, path);
    await flushFolder(dirname(path));
    return "written";
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeDurably(path: string, content: string, mode: number | undefined) {
  const handle = await open(path, "wx", mode);
  try {
    if (mode !== undefined) await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).mode & PERMISSIONS;
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

function hashAt(path: string): string {
  try {
    return lstatSync(path).isFile() ? hashOf(readFileSync(path)) : "not a file";
  } catch (thrown) {
    if (isMissing(thrown)) return ABSENT_HASH;
    throw thrown;
  }
}

/** The new name itself is on the disk only once the folder is. */
async function flushFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
