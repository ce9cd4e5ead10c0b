import { statSync } from "node:fs";
import type { Kysely } from "kysely";
import { messageOf } from "../../shared/errors.ts";
import { memoryIdOf } from "../../shared/ids.ts";
import { layerOf, wireDocumentId } from "../../shared/replica/address.ts";
import { type EntryId, sameId } from "../../shared/replica/entry-index.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { parseEntryIds } from "../entry-ids.ts";
import { heldAdvice } from "../held/advice.ts";
import { type HeldItem, listHeld } from "../held/held-store.ts";
import type { Home } from "../home.ts";
import { type LosersDismissal, readInbox } from "../inbox.ts";
import { LOCAL_ACCOUNT } from "../local-account.ts";
import { openHomeReader } from "../open-home.ts";
import { readSalvaged } from "../recovery/read-salvaged.ts";
import type { DaemonTables } from "../tables.ts";
import { findLocalDocument } from "./local-documents.ts";

/** A memory as the command line shows it. */
export interface LocalMemory {
  readonly id: string;
  readonly key: string;
  readonly value: string;
  readonly layer: Layer;
  readonly updated_at: string;
  /** Saved while no daemon ran; the next one takes it over. */
  readonly in_inbox: boolean;
  /** Why it is held, and what to do; undefined for what is in its document or on its way. */
  readonly held: string | undefined;
  /** The entries behind it. */
  readonly seen: readonly EntryId[];
}

/** Opens the home's replica for reading; undefined when there is none yet. */
export async function openLocal(home: Home): Promise<Kysely<DaemonTables> | undefined> {
  return isThere(home) ? await openHomeReader(home.database) : undefined;
}

/** Throws one sentence where nobody may look: that is no answer, and no empty home. */
function isThere(home: Home): boolean {
  try {
    return statSync(home.database, { throwIfNoEntry: false }) !== undefined;
  } catch (thrown) {
    const words = "mend its permissions or set MEMSYNC_HOME to another folder";
    throw new Error(`the home ${home.dir} can't be read: ${words} (${messageOf(thrown)})`);
  }
}

/**
 * The memories of a document, oldest first: what the daemon has committed, overlaid with what is
 * held and what waits in the inbox. The same with and without a running daemon. `account` is what
 * the document is bound to.
 */
export async function readLocalMemories(
  db: Kysely<DaemonTables>,
  document: string,
  account: string = LOCAL_ACCOUNT,
): Promise<LocalMemory[]> {
  const found = await findLocalDocument(db, document, account);
  const rows = await db
    .selectFrom("memories")
    .select(["key", "value", "updated_at", "entry_ids"])
    .where("document_id", "=", found?.id ?? null)
    .orderBy("created_at")
    .orderBy("row_id")
    .execute();
  const layer = layerOf(document);
  const memories = new Map<string, LocalMemory>();
  for (const { key, value, updated_at, entry_ids } of rows) {
    memories.set(key, {
      id: memoryIdOf(wireDocumentId(document), key),
      key,
      value,
      layer,
      updated_at: timestampOf(updated_at),
      in_inbox: false,
      held: undefined,
      seen: parseEntryIds(entry_ids),
    });
  }
  const place = { account, document };
  for (const { key, value, client, clock, updated_at } of await readSalvaged(db, place)) {
    const id = memoryIdOf(wireDocumentId(document), key);
    const waits = { updated_at: timestampOf(updated_at), in_inbox: true, held: undefined };
    const seen = [{ client, clock }];
    if (!memories.has(key)) memories.set(key, { id, key, value, layer, ...waits, seen });
  }
  for (const item of await listHeld(db, place)) {
    if (item.kind === "memory") showHeld(memories, item);
  }
  for (const write of await readInbox(db, document, account)) {
    if (write.kind === "losers") dropLosers(memories, write);
    if (write.kind !== "memory") continue;
    const { key, value, seen, writtenAt } = write;
    if (value === undefined) {
      memories.delete(key);
      continue;
    }
    memories.set(key, {
      id: memoryIdOf(wireDocumentId(document), key),
      key,
      value,
      layer,
      updated_at: timestampOf(writtenAt),
      in_inbox: true,
      held: undefined,
      seen: [...(memories.get(key)?.seen ?? []), ...seen],
    });
  }
  return [...memories.values()];
}

function showHeld(memories: Map<string, LocalMemory>, item: HeldItem): void {
  const { document, key, value, seen, writtenAt } = item;
  if (value === undefined) {
    memories.delete(key);
    return;
  }
  memories.set(key, {
    id: memoryIdOf(wireDocumentId(document), key),
    key,
    value,
    layer: layerOf(document),
    updated_at: timestampOf(writtenAt),
    in_inbox: false,
    held: heldAdvice(item),
    seen,
  });
}

function dropLosers(
  memories: Map<string, LocalMemory>,
  { key, seen: lost }: LosersDismissal,
): void {
  const memory = memories.get(key);
  if (!memory) return;
  const seen = memory.seen.filter((id) => !lost.some((each) => sameId(each, id)));
  memories.set(key, { ...memory, seen });
}
