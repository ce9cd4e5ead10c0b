import type { Kysely } from "kysely";
import { parseJson } from "../../shared/json.ts";
import type { DaemonTables } from "../home/tables.ts";
import { keyWords, metadataWords } from "./judge.ts";

/**
 * The texts that a document has, by its rows: for a look that opens none, and says what a write
 * would meet; see `LeavingText.others`. None where several accounts have a document of the name.
 */
export async function standingTexts(
  db: Kysely<DaemonTables>,
  document: string,
): Promise<readonly string[]> {
  const found = await db
    .selectFrom("documents")
    .select("id")
    .where("name", "=", document)
    .limit(2)
    .execute();
  const [only] = found;
  if (!only || found.length > 1) return [];
  const { id } = only;
  const texts = await db
    .selectFrom("texts")
    .select("content")
    .where("document_id", "=", id)
    .execute();
  const memories = await db
    .selectFrom("memories")
    .select(["key", "value"])
    .where("document_id", "=", id)
    .orderBy("row_id")
    .execute();
  const metadata = await db
    .selectFrom("metadata")
    .select(["key", "value"])
    .where("document_id", "=", id)
    .orderBy("key")
    .execute();
  return [
    ...texts.map(({ content }) => content),
    ...memories.flatMap(({ key, value }) => [keyWords(key), value]),
    ...metadata.map(({ key, value }) => metadataWords(key, parseJson(value))),
  ];
}
