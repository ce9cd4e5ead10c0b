/// <reference lib="es2024.collection" />

import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readInbox } from "../../daemon/inbox/inbox.ts";
import { settlesEntry } from "../../daemon/inbox/overlay.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import { machineIn } from "../../shared/replica/log/machines.ts";
import { loadLocalDocument } from "./load-local-document.ts";

/** A value, when it was written (milliseconds since the Unix epoch) and on which machine. */
export interface WrittenValue {
  readonly value: string;
  readonly writtenAt: number;
  /** Undefined where that is unknown. */
  readonly machine: string | undefined;
}

/** A value that lost against one written elsewhere at the same time. Both are in the document. */
export interface LosingVersion extends WrittenValue {
  readonly key: string;
  readonly winner: WrittenValue;
  /** The entries that have this value. */
  readonly entries: readonly EntryId[];
}

interface Place {
  readonly id: number;
  readonly name: string;
  /** The account of a `user` or `global` document. */
  readonly account?: AccountId | undefined;
}

/**
 * The losing values of a document, newest first; equal values of a key once. Keys that the inbox
 * has settled are left out.
 */
export async function listLosingVersions(
  db: Kysely<DaemonTables>,
  { id, name, account }: Place,
): Promise<LosingVersion[]> {
  const keys = await keysWithSeveralEntries(db, id);
  if (keys.length === 0) return [];
  const document = await loadLocalDocument(db, id);
  const waiting = await readInbox(db, name, account);
  const found: LosingVersion[] = [];
  for (const key of keys) {
    const entries = document.memories.get(key).map((entry) => ({
      id: entry.id,
      value: String(entry.value),
      writtenAt: entry.updated_at,
      machine: machineIn(document, entry.id.client),
    }));
    const [winner] = entries;
    const losers = Map.groupBy(entries, ({ value }) => value);
    if (winner) losers.delete(winner.value);
    for (const [value, [first, ...others]] of losers) {
      if (!winner || !first || settlesEntry(waiting, key, first.id)) continue;
      const { writtenAt, machine } = first;
      const all = [first, ...others].map((entry) => entry.id);
      found.push({ key, value, writtenAt, machine, winner, entries: all });
    }
  }
  return found.sort((one, other) => other.writtenAt - one.writtenAt);
}

async function keysWithSeveralEntries(db: Kysely<DaemonTables>, id: number): Promise<string[]> {
  const rows = await db
    .selectFrom("memories")
    .select("key")
    .where("document_id", "=", id)
    .where("entry_ids", "like", "%],[%")
    .orderBy("row_id")
    .execute();
  return rows.map(({ key }) => key);
}
