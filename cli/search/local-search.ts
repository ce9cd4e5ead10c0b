import { Kysely, SqliteDialect, sql } from "kysely";
import { fullTextQuery } from "../../shared/replica/search/full-text.ts";
import { openConnection } from "../../shared/sqlite/database.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findLocalDocument } from "../local/local-documents.ts";
import { type LocalMemory, readLocalMemories } from "../local/local-memories.ts";
import type { Place } from "../place/place.ts";

type Db = Kysely<DaemonTables>;

/**
 * The memories of these places that hold every word of `text`, best match first; what is held or
 * waits in the inbox comes last. The same rules as the interface's `q`, and the same with and
 * without a running daemon.
 */
export async function searchLocalMemories(
  db: Db,
  places: readonly Pick<Place, "document" | "account">[],
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
  return [...indexed, ...(await matching(overlaid, query))];
}

/** The index does not know its value. */
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

/** Those of a few memories that match, by an index of their own, so that the same words match. */
async function matching(memories: readonly LocalMemory[], query: string): Promise<LocalMemory[]> {
  if (memories.length === 0) return [];
  const database = await openConnection(":memory:", false);
  const index = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) });
  try {
    await sql`create virtual table found using fts5(key, value, tokenize='unicode61')`.execute(
      index,
    );
    for (const [at, { key, value }] of memories.entries()) {
      await sql`insert into found (rowid, key, value) values (${at + 1}, ${key}, ${value})`.execute(
        index,
      );
    }
    const { rows } = await sql<{ at: number }>`
      select rowid as at from found where found match ${query} order by bm25(found), rowid`.execute(
      index,
    );
    return rows.flatMap(({ at }) => memories[at - 1] ?? []);
  } finally {
    await index.destroy();
  }
}
