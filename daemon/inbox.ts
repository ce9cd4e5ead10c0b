import type { Kysely, Selectable } from "kysely";
import type { ReplicaDocument } from "../shared/replica/document.ts";
import type { EntryId } from "../shared/replica/entry-index.ts";
import type { ReplicaStore, WriteContext } from "../shared/replica/store.ts";
import { TEXT_CONFLICT_PREFIX } from "../shared/replica/own-metadata.ts";
import { splitForm } from "../shared/replica/text-form.ts";
import { LOCAL_ACCOUNT } from "./local-account.ts";
import type { DaemonTables, InboxTable } from "./tables.ts";

type Db = Kysely<DaemonTables>;

interface InboxItem {
  /** A project's id, `user/<user id>` or `global`. */
  readonly document: string;
  /** Milliseconds since the Unix epoch. */
  readonly writtenAt: number;
}

/** Sets or deletes a memory. */
export interface MemoryWrite extends InboxItem {
  readonly kind: "memory";
  readonly key: string;
  /** Undefined deletes the key. */
  readonly value: string | undefined;
  /** The entries that its author saw, which it replaces. */
  readonly seen: readonly EntryId[];
}

/** Dismisses losing versions of a memory. */
export interface LosersDismissal extends InboxItem {
  readonly kind: "losers";
  readonly key: string;
  readonly seen: readonly EntryId[];
}

/** Replaces a project's text. */
export interface TextWrite extends InboxItem {
  readonly kind: "text";
  /** The text that its author saw; what differs from it is the change. */
  readonly base: string;
  readonly value: string;
}

/** Dismisses a conflict of a project's text, by its id. */
export interface TextConflictDismissal extends InboxItem {
  readonly kind: "text conflict";
  readonly id: string;
}

/** A write made while no daemon ran: it waits, durably, for the next one. */
export type InboxWrite = MemoryWrite | LosersDismissal | TextWrite | TextConflictDismissal;

/** Adds a write behind those that wait; durable with its transaction's commit. */
export async function appendToInbox(db: Db, write: InboxWrite): Promise<void> {
  const { kind, document } = write;
  await db
    .insertInto("inbox")
    .values({ kind, document, written_at: write.writtenAt, ...columnsOf(write) })
    .execute();
}

function columnsOf(write: InboxWrite) {
  switch (write.kind) {
    case "memory":
      return { key: write.key, value: write.value ?? null, seen: idsText(write.seen), base: null };
    case "losers":
      return { key: write.key, value: null, seen: idsText(write.seen), base: null };
    case "text":
      return { key: "", value: write.value, seen: "[]", base: write.base };
    case "text conflict":
      return { key: write.id, value: null, seen: "[]", base: null };
  }
}

function idsText(ids: readonly EntryId[]): string {
  return JSON.stringify(ids.map(({ client, clock }) => [client, clock]));
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
    for (const write of rows.map(toWrite)) await applyWrite(context, write, made);
    if (rows.length > 0) await context.db.deleteFrom("inbox").execute();
    return rows.length;
  });
}

/** `made`: by document and key, what earlier writes made. */
async function applyWrite(
  context: WriteContext<DaemonTables>,
  write: InboxWrite,
  made: Map<string, EntryId[]>,
): Promise<void> {
  const open = await context.open({ owner: LOCAL_ACCOUNT, name: write.document });
  const { document } = open;
  switch (write.kind) {
    case "memory":
      applyMemory(document, write, made);
      break;
    case "losers":
      document.deleteEntry("memories", write.key, write.seen);
      break;
    case "text":
      applyText(document, write);
      break;
    case "text conflict":
      document.deleteEntry("metadata", TEXT_CONFLICT_PREFIX + write.id);
  }
  // Each is a version of its own in the history.
  await context.flush(open);
}

function applyMemory(
  document: ReplicaDocument,
  write: MemoryWrite,
  made: Map<string, EntryId[]>,
): void {
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

/** Where the text is another by now, lines that the author had not seen stay. */
function applyText(document: ReplicaDocument, { base, value, writtenAt }: TextWrite): void {
  if (document.content() === base) {
    document.setContent(value, writtenAt);
    return;
  }
  const { form, lines } = splitForm(value);
  document.editText(document.alignText(splitForm(base).lines), lines);
  document.setTextForm(form, writtenAt);
}

function toWrite(row: Selectable<InboxTable>): InboxWrite {
  const { document, key, written_at: writtenAt } = row;
  const seen = parseEntryIds(row.seen);
  switch (row.kind) {
    case "memory":
      return { kind: "memory", document, key, value: row.value ?? undefined, seen, writtenAt };
    case "losers":
      return { kind: "losers", document, key, seen, writtenAt };
    case "text":
      return { kind: "text", document, base: row.base ?? "", value: row.value ?? "", writtenAt };
    case "text conflict":
      return { kind: "text conflict", document, id: key, writtenAt };
  }
}

/** Reads JSON `[[client, clock], …]`, as `memories.entry_ids` and `inbox.seen` hold it. */
export function parseEntryIds(text: string): EntryId[] {
  const pairs = JSON.parse(text) as [number, number][];
  return pairs.map(([client, clock]) => ({ client, clock }));
}
