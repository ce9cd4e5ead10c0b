import type { Kysely } from "kysely";
import { type HeldDocument, type HeldItem, listHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

/**
 * A held text that is shown in place of the document's. It includes the text that its author saw.
 */
export type ShownText = HeldItem & { readonly value: string };

/** The text among a project's held writes that was written last; undefined where there is none. */
export function shownText(held: readonly HeldItem[]): ShownText | undefined {
  let last: ShownText | undefined;
  for (const item of held) {
    if (item.kind !== "text" && item.kind !== "file") continue;
    const { value, shown } = item;
    if (value === undefined || !shown || (last && last.writtenAt > item.writtenAt)) continue;
    last = { ...item, value };
  }
  return last;
}

/** The same for what is held of a document. */
export async function findShownText(
  db: Kysely<DaemonTables>,
  of: HeldDocument,
): Promise<ShownText | undefined> {
  return shownText(await listHeld(db, of));
}

/** A new text takes the place of what is held of a project's files. It stays with the files. */
export async function hideHeldFiles(
  db: Kysely<DaemonTables>,
  { account, document }: HeldDocument,
): Promise<void> {
  await db
    .updateTable("held")
    .set({ shown: 0 })
    .where("account", "=", account)
    .where("document", "=", document)
    .where("kind", "=", "file")
    .execute();
}
