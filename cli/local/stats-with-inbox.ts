import type { Kysely } from "kysely";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type InboxWrite, readWholeInbox } from "../../daemon/inbox/inbox.ts";
import { laidOver, type Values } from "../../daemon/inbox/overlay.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import type { AccountId } from "../../shared/ids.ts";
import { utf8Bytes } from "../../shared/limits.ts";
import { layerOf, projectOf } from "../../shared/replica/document/address.ts";
import type { Stats } from "../../shared/wire/stats.ts";

type Db = Kysely<DaemonTables>;

/** Figures that include the inbox, and how many writes that has. */
export interface StatsWithInbox {
  readonly stats: Stats;
  readonly inbox: number;
}

/**
 * The default remote's figures once the next daemon has applied the inbox. A project that the home
 * does not have yet will be bound to `account`.
 */
export async function withInbox(db: Db, account: AccountId, stats: Stats): Promise<StatsWithInbox> {
  const byDocument = new Map<string, InboxWrite[]>();
  let inbox = 0;
  for (const write of await readWholeInbox(db)) {
    if (!(await isOf(db, write, account))) continue;
    byDocument.set(write.document, [...(byDocument.get(write.document) ?? []), write]);
    inbox++;
  }
  const memories = { ...stats.memories };
  let { projects, storage_bytes } = stats;
  for (const [name, writes] of byDocument) {
    const document = await findLocalDocument(db, name, account);
    if (!document && projectOf(name) !== undefined) projects++;
    const grown = await growthBy(db, document?.id, writes);
    memories[layerOf(name)] += grown.memories;
    memories.total += grown.memories;
    storage_bytes += grown.bytes;
  }
  return { stats: { ...stats, projects, memories, storage_bytes }, inbox };
}

async function isOf(db: Db, write: InboxWrite, account: AccountId): Promise<boolean> {
  const project = projectOf(write.document);
  if (project === undefined) return (write.account ?? LOCAL_ACCOUNT) === account;
  return ((await findBinding(db, project)) ?? account) === account;
}

/** How many more of each kind a document has after these writes; negative if it has fewer. */
async function growthBy(db: Db, documentId: number | undefined, writes: readonly InboxWrite[]) {
  const stored = await storedValues(db, documentId);
  const [before, after] = [sizeOf(stored), sizeOf(laidOver(stored, writes))];
  return { memories: after.memories - before.memories, bytes: after.bytes - before.bytes };
}

function sizeOf({ memories, text }: Values) {
  const all = [...memories].map(([key, value]) => utf8Bytes(key) + utf8Bytes(value));
  return { memories: all.length, bytes: all.reduce((sum, size) => sum + size, utf8Bytes(text)) };
}

const NOTHING: Values = { memories: new Map(), text: "" };

async function storedValues(db: Db, documentId: number | undefined): Promise<Values> {
  if (documentId === undefined) return NOTHING;
  const rows = await db
    .selectFrom("memories")
    .select(["key", "value"])
    .where("document_id", "=", documentId)
    .execute();
  const text = await db
    .selectFrom("texts")
    .select("content")
    .where("document_id", "=", documentId)
    .executeTakeFirst();
  const memories = new Map(rows.map(({ key, value }) => [key, value]));
  return { memories, text: text?.content ?? "" };
}
