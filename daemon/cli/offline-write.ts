import type { Kysely } from "kysely";
import { passGate } from "../../shared/sqlite/lock.ts";
import { writeTransaction } from "../../shared/sqlite/transaction.ts";
import { realWorld } from "../../shared/world-real.ts";
import { type Home, prepareHome } from "../home.ts";
import { appendToInbox, type InboxWrite } from "../inbox.ts";
import { openHomeDatabase } from "../open-home.ts";
import type { DaemonTables } from "../tables.ts";
import { findDaemon } from "./gateway-client.ts";
import { readLocalMemories } from "./local-memories.ts";
import type { Place } from "./place.ts";

/**
 * Saves a memory while no daemon runs: into the inbox, durably, with the entries that are visible
 * now. False: there was nothing to delete.
 */
export async function writeOffline(
  home: Home,
  { document, account }: Pick<Place, "document" | "account">,
  key: string,
  value: string | undefined,
  allowSecret = false,
): Promise<boolean> {
  return await writeToInbox(home, async (db) => {
    const memories = await readLocalMemories(db, document, account);
    const known = memories.find((memory) => memory.key === key);
    if (value === undefined && !known) return undefined;
    const writtenAt = realWorld.now();
    const seen = known?.seen ?? [];
    return { kind: "memory", document, account, key, value, seen, writtenAt, allowSecret };
  });
}

/**
 * Puts into the inbox what `work` makes of the replica as it stands. A daemon that runs, or has
 * started meanwhile, is told to look. False: `work` made nothing.
 */
export async function writeToInbox(
  home: Home,
  work: (db: Kysely<DaemonTables>) => Promise<InboxWrite | undefined>,
): Promise<boolean> {
  return await changeHome(home, async (db) => {
    const write = await work(db);
    if (write) await appendToInbox(db, write);
    return write !== undefined;
  });
}

/**
 * Changes the home's database beside the daemon, in one transaction and durably, while nobody
 * exchanges the file. A daemon that runs, or has started meanwhile, is told to look.
 */
export async function changeHome<Result>(
  home: Home,
  work: (db: Kysely<DaemonTables>) => Promise<Result>,
): Promise<Result> {
  prepareHome(home);
  const gate = await passGate(home.gate, "shared");
  try {
    const database = await openHomeDatabase(home.database);
    try {
      const result = await writeTransaction(database.writer, work);
      const daemon = await findDaemon(home);
      // It is saved either way: a daemon that can't be told now looks when it starts.
      await daemon?.call("POST", "/_memsync/inbox", {}).catch(() => undefined);
      return result;
    } finally {
      await database.close();
    }
  } finally {
    gate.release();
  }
}
