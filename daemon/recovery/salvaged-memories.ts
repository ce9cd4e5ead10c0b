import type { Kysely } from "kysely";
import * as Y from "yjs";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { readPosition } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import { readSalvaged, type SalvagedPlace } from "./read-salvaged.ts";

/**
 * Settles what waits of each document that the service has answered for. An entry that the service
 * held is as the service says, be it deleted; one that it never had is written anew, under this
 * process's own client id and with its former time, beside whatever else the key has. `serviceOf`
 * names the service that an account's documents are bound to.
 */
export async function settleSalvaged(
  store: ReplicaStore<DaemonTables>,
  serviceOf: (account: string) => string,
): Promise<void> {
  await store.write(async (context) => {
    const documents = await context.db
      .selectFrom("salvaged_memories")
      .select(["account", "document"])
      .distinct()
      .orderBy("account")
      .orderBy("document")
      .execute();
    for (const place of documents) await settle(context, serviceOf(place.account), place);
  });
}

async function settle(
  context: WriteContext<DaemonTables>,
  service: string,
  place: SalvagedPlace,
): Promise<void> {
  const { db } = context;
  const open = await context.open({ owner: place.account, name: place.document });
  if ((await readPosition(db, service, open.id)).remote === undefined) return;
  await writeUnsent(db, open, place);
}

/**
 * Writes into an open document what waits of it and is neither in it nor was ever in what it holds;
 * nothing waits of it any more.
 */
export async function writeUnsent(
  db: Kysely<DaemonTables>,
  { document }: OpenDocument,
  place: SalvagedPlace,
): Promise<void> {
  for (const { key, value, client, clock, updated_at } of await readSalvaged(db, place)) {
    if (Y.getState(document.ydoc.store, client) > clock) continue;
    if (document.memories.get(key).some((entry) => entry.value === value)) continue;
    document.setEntry("memories", key, { value, now: updated_at, seen: [] });
  }
  await db
    .deleteFrom("salvaged_memories")
    .where("account", "=", place.account)
    .where("document", "=", place.document)
    .execute();
}
