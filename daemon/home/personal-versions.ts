import type { Kysely } from "kysely";
import { notePersonalText } from "./personal-lines.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** At most this many versions are kept: the last ones that this machine had. */
const KEPT_MAX = 64;

/** A version of the personal text that this machine has had. */
export interface KeptVersion {
  readonly id: string;
  /** As a memory has it. */
  readonly value: string;
  /** It was made here. */
  readonly isOwn: boolean;
}

/** The oldest first. */
export async function readPersonalVersions(db: Db): Promise<KeptVersion[]> {
  const rows = await db.selectFrom("personal_versions").selectAll().orderBy("number").execute();
  return rows.map(({ id, value, is_own }) => ({ id, value, isOwn: is_own === 1 }));
}

/** Keeps a version, unless it is kept already. Durable with the transaction. */
export async function keepPersonalVersion(db: Db, version: KeptVersion): Promise<void> {
  const { id, value, isOwn } = version;
  const { numInsertedOrUpdatedRows: added } = await db
    .insertInto("personal_versions")
    .values({ id, value, is_own: isOwn ? 1 : 0 })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .executeTakeFirst();
  if (!added) return;
  await notePersonalText(db, value);
  const last = await db
    .selectFrom("personal_versions")
    .select("number")
    .orderBy("number", "desc")
    .offset(KEPT_MAX)
    .limit(1)
    .executeTakeFirst();
  if (last) await db.deleteFrom("personal_versions").where("number", "<=", last.number).execute();
}
