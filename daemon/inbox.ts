import type { Kysely } from "kysely";
import type { EntryId } from "../shared/replica/entry-index.ts";
import type { ReplicaStore } from "../shared/replica/store.ts";
import { LOCAL_ACCOUNT } from "./gateway/mount.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** A write made while no daemon ran: it waits, durably, for the next one. */
export interface InboxWrite {
  /** A project's id, `user/<user id>` or `global`. */
  readonly document: string;
  readonly key: string;
  /** Undefined deletes the key. */
  readonly value: string | undefined;
  /** The entries that its author saw, which it replaces. */
  readonly seen: readonly EntryId[];
  /** Milliseconds since the Unix epoch. */
  readonly writtenAt: number;
}

/** Adds a write behind those that wait; durable with its transaction's commit. */
export async function appendToInbox(db: Db, write: InboxWrite): Promise<void> {
  await db
    .insertInto("inbox")
    .values({
      document: write.document,
      key: write.key,
      value: write.value ?? null,
      seen: JSON.stringify(write.seen.map(({ client, clock }) => [client, clock])),
      written_at: write.writtenAt,
    })
    .execute();
}

/** What waits for a document, oldest first. */
export async function readInbox(db: Db, document: string): Promise<InboxWrite[]> {
  const rows = await db
    .selectFrom("inbox")
    .selectAll()
    .where("document", "=", document)
    .orderBy("id")
    .execute();
  return rows.map(toWrite);
}

/**
 * Applies what waits, in order and in one transaction, each write replacing just what its author
 * saw: the entries it names, and what earlier writes of the inbox made of its key. Resolves to how
 * many there were.
 */
export async function drainInbox(store: ReplicaStore<DaemonTables>): Promise<number> {
  return await store.write(async (context) => {
    const rows = await context.db.selectFrom("inbox").selectAll().orderBy("id").execute();
    const made = new Map<string, EntryId[]>();
    for (const write of rows.map(toWrite)) {
      const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: write.document });
      const place = JSON.stringify([write.document, write.key]);
      const seen = [...write.seen, ...(made.get(place) ?? [])];
      if (write.value === undefined) document.deleteEntry("memories", write.key, seen);
      else document.setEntry("memories", write.key, write.value, { now: write.writtenAt, seen });
      const own = document.memories.get(write.key).filter(({ id }) => {
        return id.client === document.ydoc.clientID;
      });
      made.set(
        place,
        own.map(({ id }) => id),
      );
    }
    if (rows.length > 0) await context.db.deleteFrom("inbox").execute();
    return rows.length;
  });
}

function toWrite(row: {
  document: string;
  key: string;
  value: string | null;
  seen: string;
  written_at: number;
}): InboxWrite {
  return {
    document: row.document,
    key: row.key,
    value: row.value ?? undefined,
    seen: parseEntryIds(row.seen),
    writtenAt: row.written_at,
  };
}

/** Reads JSON `[[client, clock], …]`, as `memories.entry_ids` and `inbox.seen` hold it. */
export function parseEntryIds(text: string): EntryId[] {
  const pairs = JSON.parse(text) as [number, number][];
  return pairs.map(([client, clock]) => ({ client, clock }));
}
