// What a home holds, with what is held and what waits laid over it: everybody reads through here.
// A forgotten overlay shows an old value.

import type { Kysely } from "kysely";
import { type AccountId, memoryIdOf } from "../../shared/ids.ts";
import type { ReasonCode } from "../../shared/reasons.ts";
import { layerOf, wireDocumentId } from "../../shared/replica/document/address.ts";
import { type EntryId, sameId } from "../../shared/replica/document/entry-index.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { heldAdvice } from "../held/advice.ts";
import { parseEntryIds } from "../home/entry-ids.ts";
import { type HeldPlace, listHeld } from "../home/held-store.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import type { DaemonTables } from "../home/tables.ts";
import { type LosersDismissal, readInbox } from "../inbox/inbox.ts";
import { readSalvaged } from "../recovery/read-salvaged.ts";
import { findLocalDocument } from "./find-document.ts";

/** A memory as this machine shows it. */
export interface LocalMemory {
  readonly id: string;
  readonly key: string;
  readonly value: string;
  readonly layer: Layer;
  readonly updated_at: string;
  /** Written without a daemon. The next daemon takes it over. */
  readonly in_inbox: boolean;
  /** Why it is held, and what to do; undefined where it is not held. */
  readonly held: string | undefined;
  /** The code of that reason. */
  readonly heldCode: ReasonCode | undefined;
  /** The entries that this value stands for. */
  readonly seen: readonly EntryId[];
}

/**
 * The memories of a document, oldest first: what the daemon has committed, with held writes and the
 * inbox laid over it. The same with and without a running daemon. `account`: the account that the
 * document is bound to.
 *
 * ```
 * for (const { key, value } of await readLocalMemories(db, "global")) show(key, value);
 * ```
 */
export async function readLocalMemories(
  db: Kysely<DaemonTables>,
  document: string,
  account: AccountId = LOCAL_ACCOUNT,
): Promise<LocalMemory[]> {
  const found = await findLocalDocument(db, document, account);
  const rows = await db
    .selectFrom("memories")
    .select(["key", "value", "updated_at", "entry_ids"])
    .where("document_id", "=", found?.id ?? null)
    .orderBy("created_at")
    .orderBy("row_id")
    .execute();
  const memories = new LocalMemories(document);
  for (const { key, value, updated_at: writtenAt, entry_ids: ids } of rows) {
    memories.show({ key, value, writtenAt, seen: parseEntryIds(ids) });
  }
  const place = { account, document };
  for (const { key, value, client, clock, updated_at: writtenAt } of await readSalvaged(
    db,
    place,
  )) {
    if (memories.has(key)) continue;
    memories.show({ key, value, writtenAt, seen: [{ client, clock }], in_inbox: true });
  }
  for (const item of await listHeld(db, place)) {
    if (item.kind === "memory" && item.shown) {
      memories.show({ ...item, held: heldAdvice(item), heldCode: item.reason.code });
    }
  }
  for (const write of await readInbox(db, document, account)) {
    if (write.kind === "losers") memories.dropLosers(write);
    if (write.kind !== "memory") continue;
    const seen = [...memories.seen(write.key), ...write.seen];
    memories.show({ ...write, seen, in_inbox: true });
  }
  return memories.list();
}

/** A memory in the document, whatever is held or waits beside it. */
export async function readStanding(
  db: Kysely<DaemonTables>,
  { account, document, key }: Pick<HeldPlace, "account" | "document" | "key">,
): Promise<{ readonly value: string | undefined; readonly entries: readonly EntryId[] }> {
  const found = await findLocalDocument(db, document, account);
  const row = await db
    .selectFrom("memories")
    .select(["value", "entry_ids"])
    .where("document_id", "=", found?.id ?? null)
    .where("key", "=", key)
    .executeTakeFirst();
  return { value: row?.value, entries: row ? parseEntryIds(row.entry_ids) : [] };
}

/** A write of a memory from any of the three sources. */
interface Shown {
  readonly key: string;
  /** Undefined for a deletion. */
  readonly value: string | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly writtenAt: number;
  readonly seen: readonly EntryId[];
  readonly in_inbox?: boolean;
  readonly held?: string;
  readonly heldCode?: ReasonCode;
}

/** The memories of one document. A later write replaces an earlier one. */
class LocalMemories {
  readonly #document: string;
  readonly #memories = new Map<string, LocalMemory>();

  constructor(document: string) {
    this.#document = document;
  }

  show({ key, value, writtenAt, seen, in_inbox = false, held, heldCode }: Shown): void {
    if (value === undefined) {
      this.#memories.delete(key);
      return;
    }
    const id = memoryIdOf(wireDocumentId(this.#document), key);
    const layer = layerOf(this.#document);
    const updated_at = timestampOf(writtenAt);
    this.#memories.set(key, { id, key, value, layer, updated_at, in_inbox, held, heldCode, seen });
  }

  has(key: string): boolean {
    return this.#memories.has(key);
  }

  seen(key: string): readonly EntryId[] {
    return this.#memories.get(key)?.seen ?? [];
  }

  dropLosers({ key, seen: lost }: LosersDismissal): void {
    const memory = this.#memories.get(key);
    if (!memory) return;
    const seen = memory.seen.filter((id) => !lost.some((each) => sameId(each, id)));
    this.#memories.set(key, { ...memory, seen });
  }

  list(): LocalMemory[] {
    return [...this.#memories.values()];
  }
}
