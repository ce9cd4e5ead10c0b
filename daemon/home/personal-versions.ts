import type { Kysely } from "kysely";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** So many versions are kept: the last ones that this machine had. */
const KEPT_MAX = 64;

/** What is to be told of a merge. */
export interface MergeNotes {
  /** Nobody knew what both texts were made of: all lines of both are there. */
  readonly isUnited: boolean;
  /** Where both had changed the same: both versions are there. */
  readonly places: readonly { readonly mine: string; readonly theirs: string }[];
}

/** A version of the personal text that this machine has had. */
export interface KeptVersion {
  readonly id: string;
  /** As a memory has it. */
  readonly value: string;
  /** It was made here. */
  readonly isOwn: boolean;
  /** Undefined where there is nothing to tell. */
  readonly notes?: MergeNotes | undefined;
}

/** The oldest first. */
export async function readPersonalVersions(db: Db): Promise<KeptVersion[]> {
  const rows = await db.selectFrom("personal_versions").selectAll().orderBy("number").execute();
  return rows.map(({ id, value, is_own, notes }) => ({
    id,
    value,
    isOwn: is_own === 1,
    notes: notes === null ? undefined : (JSON.parse(notes) as MergeNotes),
  }));
}

/** Keeps a version, unless it is kept already. Durable with the transaction. */
export async function keepPersonalVersion(db: Db, version: KeptVersion): Promise<void> {
  const { id, value, isOwn, notes } = version;
  await db
    .insertInto("personal_versions")
    .values({ id, value, is_own: isOwn ? 1 : 0, notes: notes ? JSON.stringify(notes) : null })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
  const last = await db
    .selectFrom("personal_versions")
    .select("number")
    .orderBy("number", "desc")
    .offset(KEPT_MAX)
    .limit(1)
    .executeTakeFirst();
  if (last) await db.deleteFrom("personal_versions").where("number", "<=", last.number).execute();
}
