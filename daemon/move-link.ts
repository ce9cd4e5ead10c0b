import { dirname } from "node:path";
import { AppError } from "../shared/errors.ts";
import type { WriteContext } from "../shared/replica/write-context.ts";
import { type Link, moveLinkTo } from "./links.ts";
import { findMoved } from "./sources/find-moved.ts";
import { type FolderPlace, isSamePlace, readPlace } from "./sources/folder-place.ts";
import { moveFollowed } from "./sources/follow-store.ts";
import { findKnownPlace, listKnownPlaces } from "./sources/place-store.ts";
import type { DaemonTables } from "./tables.ts";

type Db = WriteContext<DaemonTables>["db"];

/**
 * Gives a link's folder another path, with all that is known of its file: what was edited there
 * meanwhile is an edit of the version that was read last, and no stranger's text.
 */
export async function moveLink(db: Db, from: string, to: string): Promise<void> {
  if (!(await moveLinkTo(db, from, to))) throw new AppError("not_found", `${from} is not linked`);
  await moveFollowed(db, from, to);
  await db.updateTable("link_places").set({ dir: to }).where("dir", "=", from).execute();
}

/**
 * The link whose folder was moved to `dir`, which is not linked: by its inode, else as the only one
 * of the same project whose folder is gone.
 */
export async function findMovedLink(
  db: Db,
  links: readonly Link[],
  dir: string,
  derivedId: string | undefined,
): Promise<Link | undefined> {
  const found = await readPlace(dir);
  if (found.kind !== "folder") return undefined;
  const places = await listKnownPlaces(db);
  const gone: Link[] = [];
  for (const link of links) {
    const known = places.get(link.dir);
    if (!known) continue;
    const isSame = isSurelySame(known.place, found.place);
    const isDerived = derivedId !== undefined && known.derivedId === derivedId;
    if (!(isSame || isDerived) || !(await isGone(link.dir, known.place))) continue;
    if (isSame) return link;
    gone.push(link);
  }
  return gone.length === 1 ? gone[0] : undefined;
}

/** The link whose folder, moved by now, is `folder` or one above it. */
export async function findLinkAbove(
  db: Db,
  links: readonly Link[],
  folder: string,
): Promise<Link | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const link = await findMovedLink(db, links, at, undefined);
    if (link || at === dirname(at)) return link;
  }
}

/** Where the folder of `link` was moved to in its neighbourhood; undefined when it is there. */
export async function findNewFolder(db: Db, link: Link): Promise<string | undefined> {
  const known = await findKnownPlace(db, link.dir);
  if (!known || !(await isGone(link.dir, known.place))) return undefined;
  return await findMoved(link.dir, known.place);
}

/** Its path leads nowhere, or to a folder that was put there meanwhile. */
async function isGone(dir: string, place: FolderPlace): Promise<boolean> {
  const found = await readPlace(dir);
  return found.kind !== "folder" || !isSamePlace(found.place, place);
}

function isSurelySame(one: FolderPlace, other: FolderPlace): boolean {
  return one.bornAt !== "" && other.bornAt !== "" && isSamePlace(one, other);
}
