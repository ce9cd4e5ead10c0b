import type { Kysely } from "kysely";
import type { ChosenProject, LinkFacts } from "./choose-project.ts";
import { keepHeldSave } from "./held/keep-held-save.ts";
import type { Link } from "./links.ts";
import { type FolderPlace, isSamePlace, readPlace } from "./sources/folder-place.ts";
import { forgetFollowed } from "./sources/follow-store.ts";
import { findRootCommit, type ProjectIdentity } from "./sources/identity.ts";
import { findKnownPlace, putKnownPlace } from "./sources/place-store.ts";
import type { Git } from "./sources/run-git.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** What a folder that is to be linked shows, beside what was known of it. */
export interface FolderFacts extends Omit<LinkFacts, "asked"> {
  readonly dir: string;
  /** Undefined where the folder is gone by now. */
  readonly place: FolderPlace | undefined;
}

export async function readLinkFacts(
  db: Db,
  git: Git,
  dir: string,
  identity: ProjectIdentity,
  former: Link | undefined,
): Promise<FolderFacts> {
  const known = former && (await findKnownPlace(db, dir));
  const found = await readPlace(dir);
  const place = found.kind === "folder" ? found.place : undefined;
  const replaced = known && place ? !isSamePlace(known.place, place) : false;
  const rootCommit =
    identity.kind === "none"
      ? undefined
      : (identity.rootCommit ?? (await findRootCommit(git, dir)));
  return { dir, identity, former, known, place, replaced, rootCommit };
}

/** Keeps what a folder is like, now that it is linked to the chosen project. */
export async function keepPlace(
  db: Db,
  { dir, place, replaced, known, rootCommit: found }: FolderFacts,
  { evidence, derivedId }: ChosenProject,
): Promise<void> {
  if (!place) return;
  // Of another folder's file it is not known what it was made from.
  if (replaced) {
    await keepHeldSave(db, dir);
    await forgetFollowed(db, dir);
  }
  const rootCommit = derivedId === known?.derivedId ? (known?.rootCommit ?? found) : found;
  await putKnownPlace(db, dir, { place, evidence, derivedId, rootCommit });
}
