/// <reference lib="es2024.collection" />

import type { Kysely } from "kysely";
import { hasSeveralEntries } from "../../daemon/home/entry-ids.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readInbox } from "../../daemon/inbox/inbox.ts";
import { settlesEntry } from "../../daemon/inbox/overlay.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { Entry, EntryId } from "../../shared/replica/document/entry-index.ts";
import { isByItsAuthor } from "../../shared/replica/document/memory-deletion.ts";
import { REMOVED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
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
): Promise<readonly LosingVersion[]> {
  return (await readContested(db, { id, name, account })).losing;
}

/** A deletion of a memory against which a write stands that had not seen it. */
export interface UndoneDeletion {
  readonly key: string;
  /** Milliseconds since the Unix epoch. */
  readonly deletedAt: number;
  /** Undefined where that is unknown. */
  readonly machine: string | undefined;
  /** What stands. */
  readonly winner: WrittenValue;
  /** All values of the memory. */
  readonly entries: readonly EntryId[];
  /** All entries that say that it was deleted. */
  readonly deletions: readonly EntryId[];
}

/** What is contested in a document because writes had not seen each other. */
export interface Contested {
  readonly losing: readonly LosingVersion[];
  /** The latest deletion of each memory. */
  readonly deletions: readonly UndoneDeletion[];
}

/** The losing values and the deletions that were undone; none that the inbox has settled. */
export async function readContested(
  db: Kysely<DaemonTables>,
  { id, name, account }: Place,
): Promise<Contested> {
  const keys = await keysWithSeveralEntries(db, id);
  if (keys.length === 0) return { losing: [], deletions: [] };
  const document = await loadLocalDocument(db, id);
  const waiting = await readInbox(db, name, account);
  const found: LosingVersion[] = [];
  const deletions: UndoneDeletion[] = [];
  for (const key of keys) {
    const entries = document.memories.get(key).map((entry) => ({
      id: entry.id,
      value: String(entry.value),
      writtenAt: entry.updated_at,
      machine: machineIn(document, entry.id.client),
    }));
    const [winner] = entries;
    const told = document.deletionsOf(key);
    const deletion = told.find(({ id }) => !settlesEntry(waiting, key, id));
    if (winner && deletion) {
      deletions.push({
        key,
        ...deletionIn(document, deletion),
        winner,
        entries: entries.map((each) => each.id),
        deletions: told.map((each) => each.id),
      });
    }
    const losers = Map.groupBy(entries, ({ value }) => value);
    if (winner) losers.delete(winner.value);
    for (const [value, [first, ...others]] of losers) {
      if (!winner || !first || settlesEntry(waiting, key, first.id)) continue;
      const { writtenAt, machine } = first;
      const all = [first, ...others].map((entry) => entry.id);
      found.push({ key, value, writtenAt, machine, winner, entries: all });
    }
  }
  const losing = found.sort((one, other) => other.writtenAt - one.writtenAt);
  return { losing, deletions };
}

/** The deletions of a memory that a document tells of, the latest first. */
export async function listDeletions(
  db: Kysely<DaemonTables>,
  id: number,
  key: string,
): Promise<{ readonly deletedAt: number; readonly machine: string | undefined }[]> {
  const row = await db
    .selectFrom("metadata")
    .select("key")
    .where("document_id", "=", id)
    .where("key", "=", REMOVED_PREFIX + key)
    .executeTakeFirst();
  if (!row) return [];
  const document = await loadLocalDocument(db, id);
  return document.deletionsOf(key).map((each) => deletionIn(document, each));
}

/** When a memory was deleted, and by which machine. */
export function deletionIn(document: ReplicaDocument, deletion: Entry) {
  const { client } = deletion.id;
  const machine = isByItsAuthor(deletion) ? machineIn(document, client) : undefined;
  return { deletedAt: deletion.updated_at, machine };
}

async function keysWithSeveralEntries(db: Kysely<DaemonTables>, id: number): Promise<string[]> {
  const rows = await db
    .selectFrom("memories")
    .select("key")
    .where("document_id", "=", id)
    .where(hasSeveralEntries)
    .orderBy("row_id")
    .execute();
  return rows.map(({ key }) => key);
}
