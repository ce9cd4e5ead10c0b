import { type Kysely, sql } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { fullTextQuery } from "../../shared/replica/search/full-text.ts";
import { matchingTexts } from "../../shared/replica/search/matching-texts.ts";
import type { MemoryPlace } from "../place/place.ts";

type Db = Kysely<DaemonTables>;

/**
 * The memories of these places that contain every word of `text`, best match first; held and
 * waiting ones last. Follows the rules of the interface's `q`. The same with and without a running
 * daemon.
 *
 * ```
 * await searchLocalMemories(db, [{ document: "global", account }], "tabs spaces");
 * ```
 */
export async function searchLocalMemories(
  db: Db,
  places: readonly Pick<MemoryPlace, "document" | "account">[],
  text: string,
): Promise<LocalMemory[]> {
  const query = fullTextQuery(text);
  if (query === undefined) return [];
  const memories = new Map<string, LocalMemory>();
  const documents: number[] = [];
  for (const { document, account } of places) {
    for (const each of await readLocalMemories(db, document, account)) memories.set(each.id, each);
    const found = await findLocalDocument(db, document, account);
    if (found) documents.push(found.id);
  }
  const found = documents.length === 0 ? [] : await searchIndex(db, documents, query);
  const indexed = found.flatMap((id) => {
    const memory = memories.get(id);
    return memory && !isOverlaid(memory) ? [memory] : [];
  });
  const overlaid = [...memories.values()].filter(isOverlaid);
  return [...indexed, ...(await matchingTexts(overlaid, query))];
}

/** The index lacks its value. */
function isOverlaid({ in_inbox, held }: LocalMemory): boolean {
  return in_inbox || held !== undefined;
}

async function searchIndex(db: Db, documents: readonly number[], query: string): Promise<string[]> {
  const { rows } = await sql<{ memory_id: string }>`
    select memories.memory_id
    from memories_text
    join memories on memories.row_id = memories_text.rowid
    where memories_text match ${query}
      and memories.document_id in (${sql.join([...documents])})
    order by bm25(memories_text), memories.memory_id`.execute(db);
  return rows.map((row) => row.memory_id);
}
