import { readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type FolderPlace, isSamePlace, readPlace } from "./folder-place.ts";

/** Of a folder with more in it nothing is found. */
const LOOKED_AT_MAX = 2000;

/**
 * Where a folder is that was renamed, or one of the folders above it, within the same parent: the
 * inode and the time of birth tell it. Undefined when it is nowhere there, or is not gone at all.
 */
export async function findMoved(dir: string, place: FolderPlace): Promise<string | undefined> {
  if (place.bornAt === "") return undefined;
  const parent = await nearestFolder(dirname(dir));
  const [gone = "", ...below] = relative(parent, dir).split("/");
  const names = await readdir(parent).catch(() => []);
  if (names.length > LOOKED_AT_MAX) return undefined;
  for (const name of names) {
    if (name === gone) continue;
    const path = join(parent, name, ...below);
    const found = await readPlace(path);
    if (found.kind === "folder" && isSamePlace(found.place, place)) return path;
  }
  return undefined;
}

async function nearestFolder(path: string): Promise<string> {
  if (path === dirname(path) || (await readPlace(path)).kind === "folder") return path;
  return nearestFolder(dirname(path));
}
