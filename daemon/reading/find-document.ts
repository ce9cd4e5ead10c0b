import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/**
 * Finds a document's row; undefined where the replica has none of this name. `account`: that of a
 * `user` or `global` document. A project's is found whatever it is bound to.
 */
export async function findLocalDocument(
  db: Db,
  name: string,
  account: AccountId = LOCAL_ACCOUNT,
): Promise<{ readonly id: number } | undefined> {
  return await db
    .selectFrom("documents")
    .select("id")
    .$if(projectOf(name) === undefined, (query) => query.where("owner", "=", account))
    .where("name", "=", name)
    .executeTakeFirst();
}
