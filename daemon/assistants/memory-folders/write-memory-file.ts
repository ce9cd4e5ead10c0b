import { constants, existsSync } from "node:fs";
import { access, link, lstat, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import type { Reason } from "../../../shared/reasons.ts";
import type { World } from "../../../shared/world.ts";
import { isMissing, readFileAt } from "../../disk/read-file.ts";
import { newTemporary } from "../../disk/temporary-name.ts";
import { replaceFile, type WriteOutcome } from "../../disk/write-file.ts";
import { stateBelow } from "../folders/project-folder.ts";
import type { MemoryArrival } from "./plan-arrivals.ts";

/** Where a folder of memories belongs. */
export interface WritableFolder {
  readonly path: string;
  /** Folders are made below this one only. */
  readonly within: string;
  /** That folder itself is made, too; the one that it is in never is. */
  readonly makesWithin?: boolean;
  /** Called when everything is ready. False: the write must not be made any more. */
  readonly isDue: () => Promise<boolean>;
}

/**
 * Writes a memory into its file, if that is as it was. A file with further names is left alone:
 * whoever gave it these has meant it to be one file.
 */
export async function writeMemoryFile(
  { path: folder, within, makesWithin = false, isDue }: WritableFolder,
  { name, content, expectedHash }: MemoryArrival,
  world: World,
): Promise<WriteOutcome | { readonly kind: "refused"; readonly why: Reason }> {
  const path = join(folder, name);
  try {
    if (makesWithin && !existsSync(within)) {
      if (!(await isDue())) return { kind: "changed" };
      await mkdir(within);
    }
    const isInside = async () => (await isWithoutLinks(within, dirname(path))) && (await isDue());
    if (!(await isWithoutLinks(within, dirname(path)))) {
      return { kind: "refused", why: { code: "memory-folder-link" } };
    }
    const stats = await lstat(path).catch(() => undefined);
    if (stats && stats.nlink > 1) return { kind: "refused", why: { code: "memory-linked" } };
    if (stats) await access(path, constants.W_OK);
    return await replaceFile(path, content, {
      expectedHash,
      world,
      within,
      isDue: isInside,
    });
  } catch (thrown) {
    return { kind: "refused", why: { code: "memory-unwritable", said: messageOf(thrown) } };
  }
}

/** Whether what is there of the way down to a folder are folders, so that it leads nowhere else. */
async function isWithoutLinks(within: string, folder: string): Promise<boolean> {
  const names = relative(within, folder).split(sep);
  if (names[0] === "..") return false;
  const state = await stateBelow(within, names[0] === "" ? [] : names);
  return state === "there" || state === "new";
}

/**
 * Removes a file if it has this hash. It is moved aside first, so that a save of the same moment
 * is not removed with it. False: it is another one.
 */
export async function removeMemoryFile(
  path: string,
  { hash, world }: { readonly hash: string; readonly world: World },
): Promise<boolean> {
  const aside = newTemporary(path, world);
  try {
    await rename(path, aside);
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
  const moved = await readFileAt(dirname(aside), aside.slice(dirname(aside).length + 1));
  const isSame = moved.kind === "text" && moved.hash === hash;
  // A new file may have come in its place; then both are kept.
  if (!isSame) await link(aside, path);
  await rm(aside, { force: true });
  return isSame;
}
