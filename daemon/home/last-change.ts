import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import type { DaemonTables } from "./tables.ts";

/**
 * When this machine last got anything new of a project, its own writes included, in milliseconds
 * since the Unix epoch; undefined where there is nothing of it yet.
 */
export async function findLastChange(
  db: Kysely<DaemonTables>,
  account: AccountId,
  project: string,
): Promise<number | undefined> {
  const document = await db
    .selectFrom("documents")
    .select("updated_at")
    .where("owner", "=", account)
    .where("name", "=", project)
    .where("seq", ">", 0)
    .executeTakeFirst();
  return document?.updated_at;
}
