import type { Kysely } from "kysely";
import { dropHeld, listHeld, putHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

/**
 * A save that is held, and whose file is gone with its folder, is nowhere else: from now on it is
 * held by itself, so that what another folder's file holds does not take its place.
 */
export async function keepHeldSave(db: Kysely<DaemonTables>, dir: string): Promise<void> {
  for (const item of await listHeld(db)) {
    if (item.kind !== "file" || item.key !== dir) continue;
    const { value, hash } = item;
    if (value !== undefined && hash !== undefined) {
      await putHeld(db, { ...item, kind: "text", key: hash, hash: undefined });
    }
    await dropHeld(db, item);
  }
}
