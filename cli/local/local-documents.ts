import type { Kysely } from "kysely";
import { listLinks } from "../../daemon/home/links.ts";
import { findProjectName } from "../../daemon/home/project-name.ts";
import { listRemotes } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { AccountId } from "../../shared/ids.ts";
import { layerOf, projectOf } from "../../shared/replica/document/address.ts";
import type { Layer } from "../../shared/wire/layer.ts";

type Db = Kysely<DaemonTables>;

/** A document of the home's replica. */
export interface LocalDocument {
  readonly id: number;
  /** A project's id, `user/<user id>` or `global`. */
  readonly name: string;
  readonly layer: Layer;
  /** The account of the remote that it is bound to. */
  readonly account: AccountId;
  /** That remote's name; undefined while remotes have no names. */
  readonly remote: string | undefined;
  /** The project's name, from its link while it is linked; its id where it has no name here. */
  readonly title: string;
}

/** All documents of the replica, in the order in which they were created. */
export async function listLocalDocuments(db: Db): Promise<LocalDocument[]> {
  const links = new Map<string, string>();
  for (const { projectId, name } of await listLinks(db)) links.set(projectId, name);
  const remotes = new Map((await listRemotes(db)).map(({ account, name }) => [account, name]));
  const rows = await db
    .selectFrom("documents")
    .select(["id", "name", "owner"])
    .orderBy("id")
    .execute();
  const documents: LocalDocument[] = [];
  for (const { id, name, owner: account } of rows) {
    const layer = layerOf(name);
    const remote = remotes.get(account);
    // What belonged to a removed remote can't be reached.
    if (remote === undefined && remotes.size > 0) continue;
    const own = remote === undefined ? layer : `${layer} of ${remote}`;
    const project = projectOf(name);
    const known = project && (links.get(name) ?? (await findProjectName(db, project)));
    const title = layer === "project" ? (known ?? name) : own;
    documents.push({ id, name, layer, account, remote, title });
  }
  return documents;
}
