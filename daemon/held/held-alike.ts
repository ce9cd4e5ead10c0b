import type { Kysely } from "kysely";
import { type HeldItem, listHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { privateIn } from "./judge.ts";

/**
 * What else of a document is held for nothing but what a held write has, too: who allows that one
 * has allowed all that is private in these. What is held for a reason that nobody finds any more is
 * none of them.
 */
export async function heldForTheSame(
  db: Kysely<DaemonTables>,
  item: HeldItem,
): Promise<readonly HeldItem[]> {
  const { account, document } = item;
  const others = (await listHeld(db, { account, document })).filter(
    ({ rowId, cause, shown, value, allowed }) =>
      rowId !== item.rowId && cause === "private" && shown && value !== undefined && !allowed,
  );
  if (others.length === 0) return [];
  const allowed = await privateIn(db, item);
  const alike: HeldItem[] = [];
  for (const other of others) {
    const found = await privateIn(db, other);
    if (found.size > 0 && [...found].every((each) => allowed.has(each))) alike.push(other);
  }
  return alike;
}
