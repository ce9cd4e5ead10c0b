import type { Kysely, Selectable } from "kysely";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import type { DaemonTables } from "../tables.ts";
import type { FolderPlace } from "./folder-place.ts";

type Db = Kysely<DaemonTables>;

/** What a link's project was derived from. `chosen`: the user named it. */
export type EvidenceKind = "origin" | "root-commit" | "none" | "chosen";

/** What a folder was like when it was linked, by which it is known again. */
export interface KnownPlace {
  readonly place: FolderPlace;
  readonly evidence: EvidenceKind;
  /** What its repository said it is, whatever it was linked to; undefined where it said nothing. */
  readonly derivedId: ProjectId | undefined;
  /** Undefined where that is not known, as in a shallow clone. */
  readonly rootCommit: string | undefined;
}

/** Undefined for a link that was made before places were kept, or whose database was rebuilt. */
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

function placeOf(row: Selectable<DaemonTables["link_places"]>): KnownPlace {
  return {
    place: { device: row.device, inode: row.inode, bornAt: row.born_at },
    evidence: row.evidence,
    derivedId: parseProjectId(row.derived_id ?? ""),
    rootCommit: row.root_commit ?? undefined,
  };
}

export async function putKnownPlace(db: Db, dir: string, known: KnownPlace): Promise<void> {
  const { place, evidence, derivedId, rootCommit } = known;
  const values = {
    device: place.device,
    inode: place.inode,
    born_at: place.bornAt,
    evidence,
    derived_id: derivedId ?? null,
    root_commit: rootCommit ?? null,
  };
  await db
    .insertInto("link_places")
    .values({ dir, ...values })
    .onConflict((conflict) => conflict.column("dir").doUpdateSet(values))
    .execute();
}

/** Another folder stands at a link's path, and is the same project's. */
export async function exchangePlace(db: Db, dir: string, place: FolderPlace): Promise<void> {
  const values = { device: place.device, inode: place.inode, born_at: place.bornAt };
  await db.updateTable("link_places").set(values).where("dir", "=", dir).execute();
}

export async function forgetKnownPlace(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("link_places").where("dir", "=", dir).execute();
}
