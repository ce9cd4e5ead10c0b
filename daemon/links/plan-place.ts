import { dirname } from "node:path";
import type { Kysely } from "kysely";
import { readFileAt } from "../disk/read-file.ts";
import { type FolderPlace, isSamePlace, readPlace } from "../files/names/folder-place.ts";
import {
  findDirsOfInode,
  findKnownPlace,
  findPlaceDirs,
  type KnownPlace,
} from "../files/names/place-store.ts";
import { readFollowed } from "../files/state/follow-store.ts";
import { identifyProject, identityAmong } from "../git/identity.ts";
import type { Git } from "../git/run-git.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { findMoved } from "./find-moved.ts";
import { findMovedTree } from "./find-moved-tree.ts";
import { type FormerLink, findFormerLink } from "./former-links.ts";

type Db = Kysely<DaemonTables>;

/** A link, and how its folder is recognised. */
export interface PlacedLink {
  readonly link: Link;
  readonly known: KnownPlace;
}

/** What to do so that links are where their folders are. */
export interface PlacePlan {
  /** Links whose folders have moved. Two of them may have exchanged their paths. */
  readonly moves: readonly PlannedMove[];
  /** Links whose folder is not to be found, while another linked folder is at the path. */
  readonly leaving: readonly PlacedLink[];
  /** A folder at the path that was linked before. */
  readonly restored: FormerLink | undefined;
  /** A folder at the path that was never linked, and that belongs to the same project. */
  readonly replacement: Replacement | undefined;
}

export interface PlannedMove {
  readonly link: Link;
  readonly to: string;
  /** The folder seems to be the linked one, but that is not certain enough to write to it. */
  readonly isUnsure: boolean;
}

/** A folder of a project, at the path of a link whose own folder is not there. */
export interface Replacement extends PlacedLink {
  readonly place: FolderPlace;
  /** Where the link's own folder is now. */
  readonly movedTo: string | undefined;
  /** Its file has the same bytes, so it is based on the same version. */
  readonly isSameFile: boolean;
}

const NOTHING: PlacePlan = {
  moves: [],
  leaving: [],
  restored: undefined,
  replacement: undefined,
};

/**
 * Compares what is at a path with what was linked there. A link belongs to a folder: it moves to
 * where the folder is found, and no other folder gets it. A folder of the same project that took
 * the path gets a link of its own, without consent to write.
 */
export async function planPlace(
  db: Db,
  git: Git,
  { links, dir }: { readonly links: readonly Link[]; readonly dir: string },
): Promise<PlacePlan> {
  const here = await readPlace(dir);
  if (here.kind === "unknown") return NOTHING;
  const place = here.kind === "folder" ? here.place : undefined;
  const placed = await findPlaced(db, links, dir);
  if (place && placed && isSamePlace(placed.known.place, place)) return NOTHING;
  // For a link of an older version, the folder that is there now counts as the linked one.
  if (!placed && links.some((link) => link.dir === dir)) return NOTHING;
  const owner = place && (await findOwner(db, links, { dir, place }));
  const movedTo = placed && (await findElsewhere(db, git, { links, placed }));
  const isSwapped = owner !== undefined && owner.link.dir === movedTo;
  const isUnsure = place?.bornAt === "";
  const moves = [
    ...(placed && movedTo !== undefined
      ? [{ link: placed.link, to: movedTo, isUnsure: false }]
      : []),
    ...(owner ? [{ link: owner.link, to: dir, isUnsure }] : []),
  ];
  const displaced = isSwapped ? undefined : await findPlaced(db, links, movedTo ?? "");
  const restored = place && !owner ? await findFormerLink(db, place) : undefined;
  const isTaken = owner !== undefined || restored !== undefined;
  const leaving = [
    ...(displaced ? [displaced] : []),
    ...(placed && movedTo === undefined && isTaken ? [placed] : []),
  ];
  if (!place || !placed || isTaken) return { ...NOTHING, moves, leaving, restored };
  const match = await matchProject(db, git, { placedLink: placed, place });
  const replacement = match && { ...placed, place, movedTo, isSameFile: match === "same-file" };
  return { ...NOTHING, moves, leaving, replacement };
}

/** The paths whose links the plan for `dir` changes. */
export function pathsIn(plan: PlacePlan, dir: string): string[] {
  const { moves, leaving, restored, replacement } = plan;
  const paths = [
    ...moves.flatMap(({ link, to }) => [link.dir, to]),
    ...leaving.map(({ link }) => link.dir),
    ...(restored || replacement ? [dir] : []),
  ];
  return [...new Set(paths)];
}

/** A folder, with the link that it has or had, perhaps at another path. */
export interface FoundLink {
  readonly link: Link;
  readonly dir: string;
}

/**
 * The link of a folder or of the nearest one above it: found by its path, else by its creation
 * time.
 */
export async function findLinkAbove(
  db: Db,
  links: readonly Link[],
  folder: string,
): Promise<FoundLink | undefined> {
  for (let dir = folder; ; dir = dirname(dir)) {
    const link = links.find((each) => each.dir === dir) ?? (await findLinkOf(db, links, dir));
    if (link) return { link, dir };
    if (dir === dirname(dir)) return undefined;
  }
}

/** The link that a folder has or had at any path, found by its creation time. */
async function findLinkOf(db: Db, links: readonly Link[], dir: string): Promise<Link | undefined> {
  const found = await readPlace(dir);
  if (found.kind !== "folder") return undefined;
  for (const at of await findPlaceDirs(db, found.place)) {
    const link = links.find((each) => each.dir === at);
    if (link && (await isKnownBy(db, dir, { at, place: found.place }))) return link;
  }
  return (await findFormerLink(db, found.place))?.link;
}

/** Another path at which a folder is linked and which now leads to the same folder. */
export async function findAlias(
  db: Db,
  links: readonly Link[],
  dir: string,
): Promise<string | undefined> {
  const here = await readPlace(dir);
  if (here.kind !== "folder") return undefined;
  const { device, inode } = here.place;
  // Asked about each link, a link would cost the more the more of them there are.
  const dirs = await findDirsOfInode(db, inode);
  for (const link of links.filter((each) => each.dir !== dir && dirs.includes(each.dir))) {
    const there = await readPlace(link.dir);
    const isFolder = there.kind === "folder" && there.place.inode === inode;
    if (isFolder && there.place.device === device) return link.dir;
  }
  return undefined;
}

/** Where a link's folder has moved, unless it is linked there as well. */
async function findElsewhere(
  db: Db,
  git: Git,
  {
    links,
    placed: { link, known },
  }: { readonly links: readonly Link[]; readonly placed: PlacedLink },
) {
  const beside = await findMoved(link.dir, known.place);
  const to = beside ?? (await findMovedTree(git, link.dir, known.place));
  const other = to === undefined ? undefined : await findPlaced(db, links, to);
  return other && isSamePlace(other.known.place, known.place) ? undefined : to;
}

async function findPlaced(
  db: Db,
  links: readonly Link[],
  dir: string,
): Promise<PlacedLink | undefined> {
  const link = links.find((each) => each.dir === dir);
  const known = link && (await findKnownPlace(db, dir));
  return known && { link, known };
}

/** The link at another path whose folder this is, and which no longer has it there. */
async function findOwner(
  db: Db,
  links: readonly Link[],
  { dir, place }: { readonly dir: string; readonly place: FolderPlace },
): Promise<PlacedLink | undefined> {
  for (const at of await findPlaceDirs(db, place)) {
    const owner = at === dir ? undefined : await findPlaced(db, links, at);
    if (!owner || !(await isKnownBy(db, dir, { at, place }))) continue;
    const there = await readPlace(at);
    if (there.kind === "unknown") continue;
    if (there.kind === "folder" && isSamePlace(there.place, place)) continue;
    return owner;
  }
  return undefined;
}

/**
 * Whether a folder with the inode of one that was linked at another path is that folder. Without a
 * creation time the inode may have been reused: then the file has to be the same byte for byte.
 */
async function isKnownBy(
  db: Db,
  dir: string,
  { at, place }: { readonly at: string; readonly place: FolderPlace },
): Promise<boolean> {
  return place.bornAt !== "" || (await hasFileOf(db, dir, at));
}

/** Whether a folder's file equals, byte for byte, the one that was followed at another path. */
async function hasFileOf(db: Db, dir: string, at: string): Promise<boolean> {
  const followed = await readFollowed(db, at);
  const read = followed && (await readFileAt(dir, followed.path));
  return read?.kind === "text" && followed?.hash === read.hash;
}

/**
 * Whether a folder belongs to the linked project. A new clone has the identity of the old one. A
 * folder without git has the same bytes in its file; on another file system these may be an old
 * copy, which the linked folder hides while it is mounted.
 */
async function matchProject(
  db: Db,
  git: Git,
  {
    placedLink: {
      link: { dir },
      known,
    },
    place,
  }: { readonly placedLink: PlacedLink; readonly place: FolderPlace },
): Promise<"same" | "same-file" | undefined> {
  const isSameFile = await hasFileOf(db, dir, dir);
  const identity = identityAmong(await identifyProject(git, dir), [known.derivedId]);
  if (identity.kind !== "none") {
    if (identity.projectId !== known.derivedId) return undefined;
    return isSameFile ? "same-file" : "same";
  }
  if (known.derivedId !== undefined || known.place.device !== place.device) return undefined;
  return isSameFile ? "same-file" : undefined;
}
