import { writeTransaction } from "../../shared/sqlite/transaction.ts";
import { realWorld } from "../../shared/world-real.ts";
import { type Home, prepareHome } from "../home.ts";
import { appendToInbox } from "../inbox.ts";
import { openHomeDatabase } from "../open-replica.ts";
import { findDaemon } from "./gateway-client.ts";
import { readLocalMemories } from "./local-memories.ts";

/**
 * Saves a write while no daemon runs: into the inbox, durably, with the entries that are visible
 * now. A daemon that has started meanwhile is told to look. False: there was nothing to delete.
 */
export async function writeOffline(
  home: Home,
  document: string,
  key: string,
  value: string | undefined,
): Promise<boolean> {
  prepareHome(home);
  const database = await openHomeDatabase(home.database);
  try {
    const written = await writeTransaction(database.writer, async (db) => {
      const memories = await readLocalMemories(db, document);
      const known = memories.find((memory) => memory.key === key);
      if (value === undefined && !known) return false;
      const writtenAt = realWorld.now();
      await appendToInbox(db, { document, key, value, seen: known?.seen ?? [], writtenAt });
      return true;
    });
    const daemon = await findDaemon(home);
    // It is saved either way: a daemon that can't be told now looks when it starts.
    await daemon?.call("POST", "/_memsync/inbox", {}).catch(() => undefined);
    return written;
  } finally {
    await database.close();
  }
}
