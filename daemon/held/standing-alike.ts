import type { Kysely } from "kysely";
import { equalJson, parseJson } from "../../shared/json.ts";
import type { HeldItem } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/** What is held of something, and stands in its document as well. */
export interface StandingAlike {
  /** Milliseconds since the Unix epoch, by its author's clock; undefined: nobody knows. */
  readonly writtenAt: number | undefined;
}

/**
 * Finds whether a document has exactly what is held of it: another machine has synced it, so the
 * service has it whatever is held here. A file is compared at each look, and is held no more then.
 */
export async function findStandingAlike(
  db: Db,
  { kind, account, document, key, value }: HeldItem,
): Promise<StandingAlike | undefined> {
  if (value === undefined || kind === "file") return undefined;
  const found = await db
    .selectFrom("documents")
    .select("id")
    .where("owner", "=", account)
    .where("name", "=", document)
    .executeTakeFirst();
  if (!found) return undefined;
  if (kind === "text") {
    const text = await db
      .selectFrom("texts")
      .select(["content", "updated_at as writtenAt"])
      .where("document_id", "=", found.id)
      .executeTakeFirst();
    return text?.content === value ? text : undefined;
  }
  if (kind === "memory") {
    const memory = await db
      .selectFrom("memories")
      .select(["value", "updated_at as writtenAt"])
      .where("document_id", "=", found.id)
      .where("key", "=", key)
      .executeTakeFirst();
    return memory?.value === value ? memory : undefined;
  }
  const metadata = await db
    .selectFrom("metadata")
    .select("value")
    .where("document_id", "=", found.id)
    .where("key", "=", key)
    .executeTakeFirst();
  const isAlike = metadata && equalJson(parseJson(metadata.value), parseJson(value));
  return isAlike ? { writtenAt: undefined } : undefined;
}
