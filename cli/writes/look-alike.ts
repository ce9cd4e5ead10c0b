import type { Kysely } from "kysely";
import { listHeld } from "../../daemon/home/held-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readInbox } from "../../daemon/inbox/inbox.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import { findLookAlike, toldBy } from "../../shared/look-alike.ts";
import type { MemoryPlace } from "../place/place.ts";

/**
 * What to say of a new memory whose key nobody can tell from another one's: both stay as they are,
 * since nothing says that one of them was meant. Undefined where there is none, or where the memory
 * was there before.
 */
export async function lookAlikeSaid(
  db: Kysely<DaemonTables> | undefined,
  { document, account }: MemoryPlace,
  key: string,
): Promise<string | undefined> {
  if (!db) return undefined;
  const found = await findLocalDocument(db, document, account);
  const rows = await db
    .selectFrom("memories")
    .select("key")
    .where("document_id", "=", found?.id ?? null)
    .orderBy("row_id")
    .execute();
  const held = await listHeld(db, { account, document });
  const waiting = (await readInbox(db, document, account)).filter(({ kind }) => kind === "memory");
  const keys = [...rows, ...held, ...waiting].flatMap((each) => ("key" in each ? [each.key] : []));
  return keys.includes(key) ? undefined : lookAlikeLine(key, keys);
}

/** The same of one of these keys. */
export function lookAlikeLine(key: string, keys: readonly string[]): string | undefined {
  const other = findLookAlike(key, keys);
  if (other === undefined) return undefined;
  const told = toldBy(key, other);
  const by = told === "" ? "" : `; this one has ${told}`;
  return `the key looks like that of another memory, ${other}, which stays beside it${by}`;
}
