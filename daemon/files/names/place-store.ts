import type { Kysely, Selectable } from "kysely";
import { type ProjectId, parseProjectId } from "../../../shared/ids.ts";
import { parseStored } from "../../../shared/json.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderPlace } from "./folder-place.ts";

type Db = Kysely<DaemonTables>;

/** What a link's project id was derived from. `chosen`: the user named the project. */
export type EvidenceKind = "origin" | "root-commit" | "none" | "chosen";

/** Whether a folder was in a repository when it was linked. */
export function isOfGit(evidence: EvidenceKind): boolean {
  return evidence === "origin" || evidence === "root-commit";
}

/**
 * What happened to a link's folder, kept until the user has dealt with it or it is old news. `at`:
 * milliseconds since the Unix epoch.
 */
export type PlaceChange =
  /**
   * The folder was at another path before, and its link moved along. `wrote`: the consent to write
   * did not, because it is not certain that the folder is the same.
   */
  | { readonly kind: "moved"; readonly from: string; readonly wrote: boolean; readonly at: number }
  /** Another folder of the same project is where the linked one was. */
  | {
      readonly kind: "replaced";
      /** Where the former folder is followed now; null where that is unknown. */
      readonly movedTo: string | null;
      /** The user allowed writing in the former folder, but has not allowed it in this one. */
      readonly wrote: boolean;
      readonly at: number;
    };

/** What a folder was like when it was linked. It is recognised by this. */
export interface KnownPlace {
  readonly place: FolderPlace;
  readonly evidence: EvidenceKind;
  /**
   * The project that its repository named, whatever the folder was linked to; undefined where it
   * named none.
   */
  readonly derivedId: ProjectId | undefined;
  /** Undefined where it is unknown, as in a shallow clone. */
  readonly rootCommit: string | undefined;
  readonly change: PlaceChange | undefined;
}

/** Undefined for a link that is older than this table, or whose database was rebuilt. */
export async function findKnownPlace(db: Db, dir: string): Promise<KnownPlace | undefined> {
  const row = await db
    .selectFrom("link_places")
    .selectAll()
    .where("dir", "=", dir)
    .executeTakeFirst();
  return row && placeOf(row);
}

/** What is known of each linked folder, by its path. */
export async function listKnownPlaces(db: Db): Promise<ReadonlyMap<string, KnownPlace>> {
  const rows = await db.selectFrom("link_places").selectAll().orderBy("dir").execute();
  return new Map(rows.map((row) => [row.dir, placeOf(row)]));
}

/** The paths at which a folder was linked, found by its inode and its creation time or device. */
export async function findPlaceDirs(db: Db, place: FolderPlace): Promise<string[]> {
  const rows = await db
    .selectFrom("link_places")
    .select(["dir", "device"])
    .where("inode", "=", place.inode)
    .where("born_at", "=", place.bornAt)
    .orderBy("dir")
    .execute();
  const isIts = ({ device }: { device: string }) => place.bornAt !== "" || device === place.device;
  return rows.filter(isIts).map(({ dir }) => dir);
}

/** The paths at which folders with an inode were linked, on whatever device. */
export async function findDirsOfInode(db: Db, inode: string): Promise<string[]> {
  const rows = await db
    .selectFrom("link_places")
    .select("dir")
    .where("inode", "=", inode)
    .orderBy("dir")
    .execute();
  return rows.map(({ dir }) => dir);
}

function placeOf(row: Selectable<DaemonTables["link_places"]>): KnownPlace {
  return {
    place: { device: row.device, inode: row.inode, bornAt: row.born_at },
    evidence: row.evidence,
    derivedId: parseProjectId(row.derived_id ?? ""),
    rootCommit: row.root_commit ?? undefined,
    change: parseChange(row.change),
  };
}

/** A repaired database may contain anything here. */
function parseChange(text: string | null): PlaceChange | undefined {
  try {
    return text === null ? undefined : parseStored<PlaceChange>(text);
  } catch {
    return undefined;
  }
}

export async function putKnownPlace(db: Db, dir: string, known: KnownPlace): Promise<void> {
  const { place, evidence, derivedId, rootCommit, change } = known;
  const values = {
    device: place.device,
    inode: place.inode,
    born_at: place.bornAt,
    evidence,
    derived_id: derivedId ?? null,
    root_commit: rootCommit ?? null,
    change: change ? JSON.stringify(change) : null,
  };
  await db
    .insertInto("link_places")
    .values({ dir, ...values })
    .onConflict((conflict) => conflict.column("dir").doUpdateSet(values))
    .execute();
}

/** The same folder, of which the file system reports other numbers now. */
export async function renewPlace(db: Db, dir: string, place: FolderPlace): Promise<void> {
  const values = { device: place.device, inode: place.inode, born_at: place.bornAt };
  await db.updateTable("link_places").set(values).where("dir", "=", dir).execute();
}

/** Stores what is to be said about a link's folder. */
export async function renewChange(
  db: Db,
  dir: string,
  change: PlaceChange | undefined,
): Promise<void> {
  const text = change ? JSON.stringify(change) : null;
  await db.updateTable("link_places").set({ change: text }).where("dir", "=", dir).execute();
}

export async function forgetKnownPlace(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("link_places").where("dir", "=", dir).execute();
}
