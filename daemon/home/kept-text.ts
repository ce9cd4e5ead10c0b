import { type Kysely, sql } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { utf8Bytes } from "../../shared/limits.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import type { DaemonTables } from "./tables.ts";

/** What `status` says of a project's description document. */
export interface KeptText {
  readonly lines: number;
  /** In UTF-8. */
  readonly bytes: number;
  /** When this machine got its current text. */
  readonly changed_at: string;
}

/** The facts about a text that is not empty. */
export function keptTextOf(value: string, writtenAt: number): KeptText {
  const lines = value.split("\n").length - (value.endsWith("\n") ? 1 : 0);
  return { lines, bytes: utf8Bytes(value), changed_at: timestampOf(writtenAt) };
}

/** Null where the document has no text. */
export async function readKeptText(
  db: Kysely<DaemonTables>,
  account: AccountId,
  project: string,
): Promise<KeptText | null> {
  const row = await db
    .selectFrom("texts")
    .innerJoin("documents", "documents.id", "texts.document_id")
    .select([
      "texts.updated_at",
      sql<number>`length(cast(content as blob))`.as("bytes"),
      sql<number>`length(content) - length(replace(content, char(10), ''))`.as("breaks"),
      sql<number>`substr(content, -1) = char(10)`.as("ends"),
    ])
    .where("owner", "=", account)
    .where("name", "=", project)
    .where("content", "!=", "")
    .executeTakeFirst();
  if (!row) return null;
  const lines = Number(row.breaks) + (Number(row.ends) === 1 ? 0 : 1);
  return { lines, bytes: Number(row.bytes), changed_at: timestampOf(row.updated_at) };
}
