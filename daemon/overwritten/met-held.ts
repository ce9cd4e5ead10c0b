import type { Kysely } from "kysely";
import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { sameId } from "../../shared/replica/document/entry-index.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { hashOf } from "../disk/read-file.ts";
import { parseEntryIds } from "../home/entry-ids.ts";
import { type HeldItem, hideHeld, listHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/** What settles held memories works with. */
export interface HeldMeetingOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly log: Log;
}

/**
 * Lets what others write of a memory meet what is held of it here. A held value is shown in the
 * place of its document's, so without this nobody here would see what others write later. Of two
 * values the later one is shown, as everywhere, and the held one stays in `memsync held`; where
 * others have synced the same one, theirs is.
 */
export class HeldMeeting {
  readonly #options: HeldMeetingOptions;
  #stopListening = () => {};
  #looking: Promise<void> = Promise.resolve();

  constructor(options: HeldMeetingOptions) {
    this.#options = options;
  }

  /** Looks now, and after each commit that changes memories. */
  start(): void {
    this.#look();
    this.#stopListening = this.#options.store.onCommit((rows) => {
      if (rows.some(({ changes }) => changes.memoryKeys.size > 0)) this.#look();
    });
  }

  /** Resolves when no look is under way; none begins any more. */
  async stop(): Promise<void> {
    this.#stopListening();
    await this.#looking;
  }

  #look(): void {
    const { store, log } = this.#options;
    this.#looking = this.#looking.then(async () => {
      try {
        // Hardly ever is there anything, and a write waits for others.
        if ((await findMet(store.reader)).length === 0) return;
        await store.write(({ db }) => settleMet(db));
      } catch (thrown) {
        log.warn({ reason: messageOf(thrown) }, "what is held was not compared");
      }
    });
  }
}

/** Settles what others have written of memories of which something is held. */
export async function settleMet(db: Db): Promise<void> {
  // It stays, whatever others wrote: its author has not seen that. See `findStandingAlike`, too.
  for (const item of await findMet(db)) {
    await hideHeld(db, item, item.apart ?? hashOf(item.value ?? ""));
  }
}

/**
 * The held memories that are shown, and of which a document has the same or something later that
 * their author has not seen. What is tried again, or was allowed, is settled by that.
 */
async function findMet(db: Db): Promise<HeldItem[]> {
  const met: HeldItem[] = [];
  for (const item of await listHeld(db)) {
    const { kind, account, document, key, shown, retryBatch, allowed } = item;
    const isOpen = kind === "memory" && shown && retryBatch === undefined && !allowed;
    if (!isOpen) continue;
    const row = await db
      .selectFrom("memories")
      .innerJoin("documents", "documents.id", "memories.document_id")
      .select(["value", "memories.updated_at as writtenAt", "entry_ids as ids"])
      .where("owner", "=", account)
      .where("name", "=", document)
      .where("memories.key", "=", key)
      .executeTakeFirst();
    if (!row) continue;
    const [winner] = parseEntryIds(row.ids);
    const isSeen = winner && item.seen.some((each) => sameId(each, winner));
    const isLater = !isSeen && row.writtenAt > item.writtenAt;
    if (row.value === item.value || isLater) met.push(item);
  }
  return met;
}
