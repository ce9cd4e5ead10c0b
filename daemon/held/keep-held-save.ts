import type { Kysely } from "kysely";
import { dropHeld, listHeld, putHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

/**
 * Keeps a held save whose file disappeared with its folder: it is nowhere else. It is no longer
 * held as the file's text, so that another folder's file does not replace it.
 */
export async function keepHeldSave(db: Kysely<DaemonTables>, dir: string): Promise<void> {
  for (const item of await listHeld(db)) {
    if (item.kind !== "file" || !isOf(item.key, dir)) continue;
    const { value, hash } = item;
    if (value !== undefined && hash !== undefined) {
      await putHeld(db, { ...item, kind: "text", key: hash, hash: undefined });
    }
    await dropHeld(db, item);
  }
}

/** Whether it is the key of a folder's file, or of a further file of the folder. */
function isOf(key: string, dir: string): boolean {
  return key === dir || key.startsWith(`${dir}//`);
}
