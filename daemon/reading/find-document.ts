import type { Kysely } from "kysely";
import { projectOf } from "../../shared/replica/document/address.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/**
 * The row of a document; undefined where the replica has none of that name. `account` says whose
 * `user` or `global` document; a project's is found wherever it is bound.
 */
export async function findLocalDocument(
  db: Db,
  name: string,
  account: string = LOCAL_ACCOUNT,
): Promise<{ readonly id: number } | undefined> {
  return await db
    .selectFrom("documents")
    .select("id")
    .$if(projectOf(name) === undefined, (query) => query.where("owner", "=", account))
    .where("name", "=", name)
    .executeTakeFirst();
}
