import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { type FollowedName, listFollowable } from "../disk/followable-files.ts";
import { type FolderPlace, isSamePlace, readPlace } from "../files/names/folder-place.ts";
import { findKnownPlace, type PlaceChange, putKnownPlace } from "../files/names/place-store.ts";
import { forgetFollowed, readFollowed, writeFollowed } from "../files/state/follow-store.ts";
import { findRootCommit, identityAmong, type ProjectIdentity } from "../git/identity.ts";
import type { Git } from "../git/run-git.ts";
import { keepHeldSave } from "../held/keep-held-save.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { ChosenProject, LinkFacts } from "./choose-project.ts";

type Db = Kysely<DaemonTables>;

/** What is known of a folder that is to be linked, from itself and from before. */
export interface FolderFacts extends Omit<LinkFacts, "asked"> {
  readonly dir: string;
  /** Undefined where the folder has disappeared. */
  readonly place: FolderPlace | undefined;
}

export async function readLinkFacts(
  db: Db,
  git: Git,
  {
    dir,
    found,
    former,
  }: { readonly dir: string; readonly found: ProjectIdentity; readonly former: Link | undefined },
): Promise<FolderFacts> {
  const known = former && (await findKnownPlace(db, dir));
  const identity = identityAmong(found, [former?.projectId, known?.derivedId]);
  const read = await readPlace(dir);
  const place = read.kind === "folder" ? read.place : undefined;
  const replaced = known && place ? !isSamePlace(known.place, place) : false;
  const rootCommit =
    identity.kind === "none"
      ? undefined
      : (identity.rootCommit ?? (await findRootCommit(git, dir)));
  return { dir, identity, former, known, place, replaced, rootCommit };
}

/** What remains to be said about a folder after the user has linked it again. */
export function stillToSay(
  { former, known, replaced }: FolderFacts,
  { write }: { readonly write?: boolean },
  now: number,
): PlaceChange | undefined {
  const change = known?.change;
  if (!replaced && change?.kind === "moved") {
    return { ...change, wrote: change.wrote && write === undefined };
  }
  const wrote =
    (replaced && former?.write === true) || (change?.kind === "replaced" && change.wrote);
  // The question whether it may be written to stays until somebody answers.
  return wrote && write === undefined
    ? { kind: "replaced", movedTo: null, wrote, at: now }
    : undefined;
}

/**
 * Another file of the folder counts from now on. It is met like a file that was created again: what
 * the document has beyond it stays, and a conflict is recorded.
 */
export async function turnToFile(db: Db, dir: string, name: FollowedName): Promise<void> {
  const known = await readFollowed(db, dir);
  const found = await listFollowable(dir);
  const chosen = found.find((each) => each.name === name || each.path === name);
  if (!chosen) throw new AppError("invalid_request", `there is no ${name} in ${dir}`);
  const { path } = chosen;
  if (!known || known.path === path) return;
  const beside = found.map((each) => each.path).filter((each) => each !== path);
  await keepHeldSave(db, dir);
  const linkedAs = chosen.name === path ? undefined : chosen.name;
  const counts = { path, linkedAs, beside, isGone: true, next: undefined };
  await writeFollowed(db, dir, { ...known, ...counts });
}

/** Stores what a folder is like when it is linked to a project. */
export async function keepPlace(
  db: Db,
  { dir, place, replaced, known, rootCommit: found }: FolderFacts,
  {
    chosenProject: { evidence, derivedId },
    change,
  }: { readonly chosenProject: ChosenProject; readonly change: PlaceChange | undefined },
): Promise<void> {
  if (!place) return;
  // The base of another folder's file is unknown.
  if (replaced) {
    await keepHeldSave(db, dir);
    await forgetFollowed(db, dir);
  }
  const rootCommit = derivedId === known?.derivedId ? (known?.rootCommit ?? found) : found;
  await putKnownPlace(db, dir, { place, evidence, derivedId, rootCommit, change });
}
