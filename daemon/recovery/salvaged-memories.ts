import type { Kysely } from "kysely";
import * as Y from "yjs";
import type { AccountId } from "../../shared/ids.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { readPosition } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import { readSalvaged, type SalvagedPlace } from "./read-salvaged.ts";

/**
 * Settles the waiting memories of each document about which the service has answered. If the
 * service ever had an entry, the service's state counts, even if it deleted the entry. An entry
 * that it never had is written again, with its former time and this process's client id, beside
 * whatever the key has. `serviceOf` gives the name of the service that an account is bound to.
 */
export async function settleSalvaged(
  store: ReplicaStore<DaemonTables>,
  serviceOf: (account: AccountId) => string,
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
 * Writes the waiting memories of an open document that are not in it and never were. None of its
 * memories waits afterwards.
 */
export async function writeUnsent(
  db: Kysely<DaemonTables>,
  { document }: OpenDocument,
  place: SalvagedPlace,
): Promise<void> {
  for (const { key, value, client, clock, updated_at } of await readSalvaged(db, place)) {
    if (Y.getState(document.ydoc.store, client) > clock) continue;
    if (document.memories.get(key).some((entry) => entry.value === value)) continue;
    const written = { value, now: updated_at, seen: [], isBeforeDeletion: true };
    document.setEntry("memories", key, written);
  }
  await db
    .deleteFrom("salvaged_memories")
    .where("account", "=", place.account)
    .where("document", "=", place.document)
    .execute();
}
