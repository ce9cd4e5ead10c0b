import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type FolderPlace, isSamePlace, readPlace } from "../files/folder-place.ts";

/** In a folder with more in it nothing is looked for. */
const LOOKED_AT_MAX = 2000;
/** In so many of the folders above it is looked for. */
const LEVELS_MAX = 3;

/**
 * Where a folder is that was renamed, or one of the folders above it: the inode and the time of
 * birth tell it. Looks beside it and beside those above it, but not at the root, where whole file
 * systems may be mounted by a look. Undefined when it is nowhere there, or is not gone at all.
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
