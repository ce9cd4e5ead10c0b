import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { loadDocument } from "../../shared/replica/log/log-rows.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";

type Db = Kysely<DaemonTables>;

/** Nothing is written under this client id: a document loaded here is only read. */
const READER_CLIENT = 0;

/** A document as of the last commit, for reading. A daemon may go on writing it. */
export async function loadLocalDocument(db: Db, id: number): Promise<ReplicaDocument> {
  const load = (one: Db) => loadDocument(narrowTables(one), id);
  const stored = db.isTransaction ? await load(db) : await db.transaction().execute(load);
  return new ReplicaDocument(stored.updates, READER_CLIENT);
}
