import type { Kysely, Selectable } from "kysely";
import type { EntryId } from "../shared/replica/entry-index.ts";
import type { OpenDocument } from "../shared/replica/open-document.ts";
import type { ReplicaStore, WriteContext } from "../shared/replica/store.ts";
import { TEXT_CONFLICT_PREFIX } from "../shared/replica/own-metadata.ts";
import { entryIdsText, parseEntryIds } from "./entry-ids.ts";
import { takeAllowed } from "./held/apply-held.ts";
import { dropHeld, putHeld } from "./held/held-store.ts";
import { allowSecretsIn, whyHeld } from "./held/judge.ts";
import { hideHeldText } from "./held/shown-text.ts";
import { LOCAL_ACCOUNT } from "./local-account.ts";
import type { DaemonTables, InboxTable } from "./tables.ts";
import { type WholeText, writeText } from "./text-write.ts";

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
  /** What looks like a secret in it is none, says its author. */
  readonly allowSecret?: boolean;
}

/** Dismisses losing versions of a memory. */
export interface LosersDismissal extends InboxItem {
  readonly kind: "losers";
  readonly key: string;
  readonly seen: readonly EntryId[];
}

/** Replaces a project's text. */
export interface TextWrite extends InboxItem, WholeText {
  readonly kind: "text";
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
      return {
        key: write.key,
        value: write.value ?? null,
        seen: entryIdsText(write.seen),
        base: null,
        allow_secret: write.allowSecret ? 1 : 0,
      };
    case "losers":
      return { key: write.key, value: null, seen: entryIdsText(write.seen), base: null };
    case "text":
      return { key: "", value: write.value, seen: "[]", base: write.base };
    case "text conflict":
      return { key: write.id, value: null, seen: "[]", base: null };
  }
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
 * saw: the entries it names, and what earlier writes of the inbox made of its key. What may not
 * enter its document is held, and what a person has allowed enters. Resolves to how many writes
 * there were.
 */
export async function drainInbox(store: ReplicaStore<DaemonTables>): Promise<number> {
  return await store.write(async (context) => {
    const rows = await context.db.selectFrom("inbox").selectAll().orderBy("id").execute();
    const made = new Map<string, EntryId[]>();
    for (const write of rows.map(toWrite)) await applyWrite(context, write, made);
    if (rows.length > 0) await context.db.deleteFrom("inbox").execute();
    await takeAllowed(context);
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
      await applyMemory(context, open, write, made);
      break;
    case "losers":
      document.deleteEntry("memories", write.key, write.seen);
      break;
    case "text":
      await applyText(context, open, write);
      break;
    case "text conflict":
      document.deleteEntry("metadata", TEXT_CONFLICT_PREFIX + write.id);
  }
  // Each is a version of its own in the history.
  await context.flush(open);
}

async function applyMemory(
  { db }: WriteContext<DaemonTables>,
  open: OpenDocument,
  write: MemoryWrite,
  made: Map<string, EntryId[]>,
): Promise<void> {
  const { document } = open;
  const { key, value, writtenAt } = write;
  const place = JSON.stringify([write.document, key]);
  const seen = [...write.seen, ...(made.get(place) ?? [])];
  const present = document.memories.get(key).map((entry) => String(entry.value));
  if (value !== undefined) {
    if (write.allowSecret) await allowSecretsIn(db, value, writtenAt);
    const why = await whyHeld(db, open, value, present);
    if (why) {
      await putHeld(db, { ...write, value, seen, ...why });
      return;
    }
  }
  await dropHeld(db, write);
  if (value === undefined) document.deleteEntry("memories", key, seen);
  else document.setEntry("memories", key, value, { now: writtenAt, seen });
  const own = document.memories.get(key).filter(({ id }) => {
    return id.client === document.ydoc.clientID;
  });
  made.set(
    place,
    own.map(({ id }) => id),
  );
}

async function applyText(
  { db }: WriteContext<DaemonTables>,
  open: OpenDocument,
  write: TextWrite,
): Promise<void> {
  const { document, base } = write;
  const why = await whyHeld(db, open, write.value, [open.document.content()]);
  if (why) {
    await putHeld(db, { ...write, document, base, key: "", seen: [], ...why });
    return;
  }
  await hideHeldText(db, document);
  writeText(open.document, write);
}

function toWrite(row: Selectable<InboxTable>): InboxWrite {
  const { document, key, written_at: writtenAt } = row;
  const seen = parseEntryIds(row.seen);
  switch (row.kind) {
    case "memory":
      return {
        kind: "memory",
        document,
        key,
        value: row.value ?? undefined,
        seen,
        writtenAt,
        allowSecret: row.allow_secret === 1,
      };
    case "losers":
      return { kind: "losers", document, key, seen, writtenAt };
    case "text":
      return { kind: "text", document, base: row.base ?? "", value: row.value ?? "", writtenAt };
    case "text conflict":
      return { kind: "text conflict", document, id: key, writtenAt };
  }
}
