import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type FolderPlace, isSamePlace, readPlace } from "../files/names/folder-place.ts";

/** Larger folders are not searched. */
const LOOKED_AT_MAX = 2000;
/** This many levels of parent folders are searched. */
const LEVELS_MAX = 3;

/**
 * Finds a folder that was renamed, or whose parent was, by inode and creation time. Searches beside
 * it and beside its parents; not the root, where looking may mount whole file systems. Undefined
 * where it is not found, or is not missing.
 */
export async function findMoved(dir: string, place: FolderPlace): Promise<string | undefined> {
  if (place.bornAt === "") return undefined;
  let below = "";
  let looked = 0;
  for (let at = dir; looked < LEVELS_MAX; at = dirname(at)) {
    if (dirname(at) === dirname(dirname(at))) return undefined;
    const names = await readdir(dirname(at)).catch(() => undefined);
    if (names) looked += 1;
    for (const name of names && names.length <= LOOKED_AT_MAX ? names : []) {
      const path = join(dirname(at), name, below);
      if (path === dir) continue;
      const found = await readPlace(path);
      if (found.kind === "folder" && isSamePlace(found.place, place)) return path;
    }
    below = join(basename(at), below);
  }
  return undefined;
}
