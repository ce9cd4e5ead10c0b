import type { Kysely } from "kysely";
import { layerOf } from "../../shared/replica/address.ts";
import { ReplicaDocument } from "../../shared/replica/document.ts";
import { loadDocument } from "../../shared/replica/log-rows.ts";
import type { ReplicaTables } from "../../shared/replica/tables.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { LOCAL_ACCOUNT } from "../local-account.ts";
import { listLinks } from "../links.ts";
import type { DaemonTables } from "../tables.ts";

type Db = Kysely<DaemonTables>;

/** Nothing is written under it: a document loaded here is for reading. */
const READER_CLIENT = 0;

/** A document of the home's replica. */
export interface LocalDocument {
  readonly id: number;
  /** A project's id, `user/<user id>` or `global`. */
  readonly name: string;
  readonly layer: Layer;
  /** The project's name, as its link says; its id where it is linked nowhere here. */
  readonly title: string;
}

/** Every document of the replica, in the order in which they came to it. */
export async function listLocalDocuments(db: Db): Promise<LocalDocument[]> {
  const links = new Map<string, string>();
  for (const { projectId, name } of await listLinks(db)) links.set(projectId, name);
  const rows = await db
    .selectFrom("documents")
    .select(["id", "name"])
    .where("owner", "=", LOCAL_ACCOUNT)
    .orderBy("id")
    .execute();
  return rows.map(({ id, name }) => {
    const layer = layerOf(name);
    return { id, name, layer, title: layer === "project" ? (links.get(name) ?? name) : layer };
  });
}

/** The row of a document; undefined where the replica has none of that name. */
export async function findLocalDocument(
  db: Db,
  name: string,
): Promise<{ readonly id: number } | undefined> {
  return await db
    .selectFrom("documents")
    .select("id")
    .where("owner", "=", LOCAL_ACCOUNT)
    .where("name", "=", name)
    .executeTakeFirst();
}

/** A document as the last commit left it, for reading; a daemon may go on writing. */
export async function loadLocalDocument(db: Db, id: number): Promise<ReplicaDocument> {
  const stored = await db
    .transaction()
    .execute((one) => loadDocument(one as unknown as Kysely<ReplicaTables>, id));
  return new ReplicaDocument(stored.updates, READER_CLIENT);
}
