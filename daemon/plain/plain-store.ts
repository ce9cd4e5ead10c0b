import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import { equalJson, isObject, type JsonValue, parseJson, parseStored } from "../../shared/json.ts";
import { parseReason, type Reason, reasonText } from "../../shared/reasons.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { AgreedItem } from "./merge-items.ts";
import { type PlainText, UNKNOWN_TEXT } from "./plain-text.ts";

type Db = Kysely<DaemonTables>;

/** The parts of a document that consist of items. */
export type ItemKind = "memories" | "metadata";

/** What a service may refuse on its own; `deletion`: of a memory. */
export type RefusedKind = ItemKind | "text" | "deletion";

/** Something that the service refused to take or to give. */
export interface RefusedItem {
  readonly kind: RefusedKind;
  /** Empty for the text. */
  readonly key: string;
  /** Hash of the refused value; see `hashOfValue`. */
  readonly hash: string;
  readonly reason: Reason;
}

/** A value that a service was sent. */
export interface SentValue {
  /** See `itemName`. */
  readonly name: string;
  /** See `hashOfValue`. */
  readonly hash: string;
  /** When it was sent, in milliseconds since the Unix epoch; 0 once it was answered. */
  readonly at: number;
}

/** A call that must not be made twice, recorded before it is made. */
export type JournaledWrite = { readonly id: number; readonly key: string } & (
  | { readonly kind: "create"; readonly content: string; readonly replacesId: string | null }
  | { readonly kind: "delete"; readonly memoryId: string }
);

/** Everything known about the service's copy of one document. */
export interface PlainState {
  readonly text: PlainText;
  readonly memories: ReadonlyMap<string, AgreedItem>;
  readonly metadata: ReadonlyMap<string, AgreedItem>;
  /**
   * What was sent to the service since the last reading, and older calls that may still take
   * effect.
   */
  readonly sent: readonly SentValue[];
  /** When the service was found to have lost data, in milliseconds since the Unix epoch. */
  readonly lostAt: number | null;
  /** How many differences the last reading left. */
  readonly outstanding: number;
  /** Since when it shows nothing that was agreed, in milliseconds since the Unix epoch. */
  readonly blankSince: number | null;
  /** The service said that the project does not exist. If it does now, it may be another one. */
  readonly missing: boolean;
  readonly journal: readonly JournaledWrite[];
  readonly refused: readonly RefusedItem[];
}

/** What a reading stores about a document. */
export type Remembered = Omit<PlainState, "journal" | "refused">;

/** The name of an item of a document, unique within it. */
export function itemName(kind: RefusedKind, key: string): string {
  return `${kind}\n${key}`;
}

/** A hash of a value that does not depend on the order of its objects' keys. */
export function hashOfValue(value: JsonValue): string {
  const sorted = JSON.stringify(value, (_key, each: JsonValue) => {
    if (!isObject(each)) return each;
    return Object.fromEntries(
      Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  });
  return createHash("sha256").update(sorted).digest("hex");
}

/** What is stored about a document; undefined before the service was first read. */
export async function readPlain(db: Db, documentId: number): Promise<PlainState | undefined> {
  const row = await db
    .selectFrom("plain_documents")
    .selectAll()
    .where("document_id", "=", documentId)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    text: parseStored<PlainText>(row.text),
    memories: await readItems(db, documentId, "memories"),
    metadata: await readItems(db, documentId, "metadata"),
    sent: parseStored<SentRow[]>(row.sent).map(([name, hash, at = 0]) => ({ name, hash, at })),
    lostAt: row.lost_at,
    outstanding: row.outstanding,
    blankSince: row.blank_since,
    missing: row.missing === 1,
    journal: await readJournal(db, documentId),
    refused: await listRefused(db, documentId),
  };
}

/** What is known before a service was read. */
export const NOTHING_READ: PlainState = {
  text: UNKNOWN_TEXT,
  memories: new Map(),
  metadata: new Map(),
  sent: [],
  lostAt: null,
  outstanding: 0,
  blankSince: null,
  missing: false,
  journal: [],
  refused: [],
};

/** Stores `state` where it differs from `known`. Durable with its transaction's commit. */
export async function writePlainState(
  db: Db,
  documentId: number,
  { known, next }: { readonly known: PlainState; readonly next: Remembered },
): Promise<void> {
  const values = documentRow(next);
  if (known === NOTHING_READ || !equalJson(documentRow(known), values)) {
    await db
      .insertInto("plain_documents")
      .values({ document_id: documentId, ...values })
      .onConflict((conflict) => conflict.column("document_id").doUpdateSet(values))
      .execute();
  }
  await writeItems(db, documentId, {
    kind: "memories",
    known: known.memories,
    next: next.memories,
  });
  await writeItems(db, documentId, {
    kind: "metadata",
    known: known.metadata,
    next: next.metadata,
  });
}

/** Rows of older versions have no time. */
type SentRow = readonly [name: string, hash: string, at?: number];

function documentRow({ text, sent, outstanding, lostAt, blankSince, missing }: Remembered) {
  return {
    text: JSON.stringify(text),
    sent: JSON.stringify(sent.map(({ name, hash, at }): SentRow => [name, hash, at])),
    outstanding,
    lost_at: lostAt,
    blank_since: blankSince,
    missing: missing ? 1 : 0,
  };
}

/** Forgets everything about a document: the next contact is a first one. */
export async function forgetPlain(db: Db, documentId: number): Promise<void> {
  for (const table of [
    "plain_documents",
    "plain_items",
    "plain_journal",
    "plain_refused",
  ] as const) {
    await db.deleteFrom(table).where("document_id", "=", documentId).execute();
  }
}

async function readItems(db: Db, documentId: number, kind: ItemKind) {
  const rows = await db
    .selectFrom("plain_items")
    .select(["key", "value", "memory_id", "created_at", "seen"])
    .where("document_id", "=", documentId)
    .where("kind", "=", kind)
    .orderBy("key")
    .execute();
  return new Map(
    rows.map(({ key, value, memory_id: id, created_at: createdAt, seen }): [string, AgreedItem] => [
      key,
      { value: parseJson(value), id, createdAt, seen: seen === 1 },
    ]),
  );
}

async function writeItems(
  db: Db,
  documentId: number,
  {
    kind,
    known,
    next,
  }: {
    readonly kind: ItemKind;
    readonly known: ReadonlyMap<string, AgreedItem>;
    readonly next: ReadonlyMap<string, AgreedItem>;
  },
): Promise<void> {
  for (const [key, item] of next) {
    if (!isSameItem(known.get(key), item)) await putItem(db, documentId, { kind, key, item });
  }
  for (const key of known.keys()) {
    if (!next.has(key)) await dropItem(db, documentId, { kind, key });
  }
}

/** The keys of memories for which a service that keeps none has only an id. */
export async function keysOfService(db: Db, documentId: number): Promise<string[]> {
  const rows = await db
    .selectFrom("plain_items")
    .select("key")
    .where("document_id", "=", documentId)
    .where("kind", "=", "memories")
    .whereRef("key", "=", "memory_id")
    .orderBy("key")
    .execute();
  return rows.map(({ key }) => key);
}

/** Records that the service holds nothing under a key. */
export async function dropItem(
  db: Db,
  documentId: number,
  { kind, key }: { readonly kind: ItemKind; readonly key: string },
): Promise<void> {
  await db
    .deleteFrom("plain_items")
    .where("document_id", "=", documentId)
    .where("kind", "=", kind)
    .where("key", "=", key)
    .execute();
}

function isSameItem(one: AgreedItem | undefined, other: AgreedItem): boolean {
  return one !== undefined && equalJson(itemRow(one), itemRow(other));
}

function itemRow({ value, id, createdAt, seen }: AgreedItem) {
  return {
    value: JSON.stringify(value),
    memory_id: id,
    created_at: createdAt,
    seen: seen ? 1 : 0,
  };
}

/** Records what the service holds under a key. */
export async function putItem(
  db: Db,
  documentId: number,
  { kind, key, item }: { readonly kind: ItemKind; readonly key: string; readonly item: AgreedItem },
): Promise<void> {
  const values = itemRow(item);
  await db
    .insertInto("plain_items")
    .values({ document_id: documentId, kind, key, ...values })
    .onConflict((conflict) => conflict.columns(["document_id", "kind", "key"]).doUpdateSet(values))
    .execute();
}

async function readJournal(db: Db, documentId: number): Promise<JournaledWrite[]> {
  const rows = await db
    .selectFrom("plain_journal")
    .selectAll()
    .where("document_id", "=", documentId)
    .orderBy("id")
    .execute();
  return rows.flatMap(({ id, kind, key, content, memory_id: memoryId }): JournaledWrite[] => {
    if (kind === "create") return [{ id, key, kind, content: content ?? "", replacesId: memoryId }];
    return memoryId === null ? [] : [{ id, key, kind, memoryId }];
  });
}

/** Records a creation that is about to be sent. The memory replaces `replacesId`. */
export async function journalCreate(
  db: Db,
  documentId: number,
  {
    key,
    content,
    replacesId,
  }: { readonly key: string; readonly content: string; readonly replacesId: string | null },
): Promise<void> {
  await db
    .insertInto("plain_journal")
    .values({ document_id: documentId, kind: "create", key, content, memory_id: replacesId })
    .execute();
}

/** Records a deletion that is about to be sent; once, however often it is tried. */
export async function journalDelete(
  db: Db,
  documentId: number,
  { key, memoryId }: { readonly key: string; readonly memoryId: string },
): Promise<void> {
  await db
    .deleteFrom("plain_journal")
    .where("document_id", "=", documentId)
    .where("kind", "=", "delete")
    .where("memory_id", "=", memoryId)
    .execute();
  await db
    .insertInto("plain_journal")
    .values({ document_id: documentId, kind: "delete", key, content: null, memory_id: memoryId })
    .execute();
}

/** Drops records of calls that have succeeded, or that never will. */
export async function dropJournal(db: Db, entries: readonly JournaledWrite[]): Promise<void> {
  for (const { id } of entries) await db.deleteFrom("plain_journal").where("id", "=", id).execute();
}

/** Drops the record of a key's creation. */
export async function dropCreate(db: Db, documentId: number, key: string): Promise<void> {
  await db
    .deleteFrom("plain_journal")
    .where("document_id", "=", documentId)
    .where("kind", "=", "create")
    .where("key", "=", key)
    .execute();
}

/** What the service refuses of a document. */
export async function listRefused(db: Db, documentId: number): Promise<RefusedItem[]> {
  const rows = await db
    .selectFrom("plain_refused")
    .select(["kind", "key", "hash", "reason"])
    .where("document_id", "=", documentId)
    .orderBy("kind")
    .orderBy("key")
    .execute();
  return rows.map((row) => ({ ...row, reason: parseReason(row.reason) }));
}

export async function putRefused(db: Db, documentId: number, refused: RefusedItem): Promise<void> {
  const { kind, key, hash } = refused;
  const reason = reasonText(refused.reason);
  await db
    .insertInto("plain_refused")
    .values({ document_id: documentId, kind, key, hash, reason })
    .onConflict((conflict) =>
      conflict.columns(["document_id", "kind", "key"]).doUpdateSet({ hash, reason }),
    )
    .execute();
}

/** Drops a refusal: the value is gone or has changed. */
export async function dropRefused(db: Db, documentId: number, refused: RefusedItem): Promise<void> {
  await db
    .deleteFrom("plain_refused")
    .where("document_id", "=", documentId)
    .where("kind", "=", refused.kind)
    .where("key", "=", refused.key)
    .execute();
}
