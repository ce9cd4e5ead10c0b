import type { Kysely } from "kysely";
import type { DaemonTables } from "../home/tables.ts";
import { readInbox } from "../inbox/inbox.ts";
import { findLocalDocument } from "./find-document.ts";

type Db = Kysely<DaemonTables>;

/** A project's text, and when it was written, in milliseconds since the Unix epoch. */
export interface LocalText {
  readonly value: string;
  readonly writtenAt: number;
  /** It was written since anything was held, and a daemon will judge it. */
  readonly waits?: boolean;
  /** The last row of the document's log that it includes; undefined for one that waits. */
  readonly seenSeq?: number | undefined;
}

/**
 * A project's text once the next daemon has applied the inbox; undefined where it has never had
 * any.
 */
export async function readLocalText(db: Db, document: string): Promise<LocalText | undefined> {
  const waiting = (await readInbox(db, document)).findLast(({ kind }) => kind === "text");
  if (waiting?.kind === "text") {
    return { value: waiting.value, writtenAt: waiting.writtenAt, waits: true };
  }
  return await readCommittedText(db, document);
}

/** The same without the inbox. */
export async function readCommittedText(db: Db, document: string): Promise<LocalText | undefined> {
  const found = await findLocalDocument(db, document);
  const row = await db
    .selectFrom("texts")
    .innerJoin("documents", "documents.id", "texts.document_id")
    .select(["texts.content", "texts.updated_at", "documents.seq"])
    .where("document_id", "=", found?.id ?? null)
    .executeTakeFirst();
  return row && { value: row.content, writtenAt: row.updated_at, seenSeq: row.seq };
}
