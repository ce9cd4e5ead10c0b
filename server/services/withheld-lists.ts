import { fullTextQuery } from "../../shared/replica/search/full-text.ts";
import { matchingTexts } from "../../shared/replica/search/matching-texts.ts";
import type { Memory } from "../../shared/wire/memory.ts";
import { pageOf, parseCursor } from "../stores/cursor.ts";
import type { MemoryFilter } from "../stores/memory-rows.ts";
import { listMemories, type MemoryRow, searchMemories, toMemory } from "../stores/memory-store.ts";
import { askedMemories } from "./asked-lists.ts";
import type { ServiceStore } from "./service-store.ts";
import type { MemoryQuery, Page } from "./services.ts";
import { overlaid, type WithheldMemory, type Withholding } from "./withholding.ts";

type Db = ServiceStore["reader"];

interface Asked {
  readonly query: MemoryQuery;
  readonly withheld: readonly WithheldMemory[];
  readonly withholding: Pick<Withholding, "searched">;
}

/** Lists or searches memories of which some are withheld. Reads all of them for each page. */
export async function listWithheld(
  db: Db,
  filter: MemoryFilter,
  { query, withheld, withholding }: Asked,
): Promise<Page<Memory>> {
  if (query.q !== undefined)
    return await searchWithheld(db, filter, { q: query.q, query, withheld, withholding });
  const rows = overlaid(
    await listMemories(db, filter, { from: undefined, limit: undefined }),
    withheld,
  );
  const from = parseCursor(askedMemories(query), query.cursor);
  const isAfter = ({ createdAt, rowId }: MemoryRow) =>
    !from || createdAt > from.sort || (createdAt === from.sort && rowId > Number(from.id));
  const page = pageOf(askedMemories(query), rows.filter(isAfter), {
    limit: query.limit,
    endOf: (row) => ({
      sort: row.createdAt,
      id: String(row.rowId),
    }),
  });
  return { items: page.rows.map(toMemory), total: rows.length, nextCursor: page.nextCursor };
}

/** The index lacks withheld memories. Their matches come last. */
async function searchWithheld(
  db: Db,
  filter: MemoryFilter,
  { q, query, withheld, withholding }: Asked & { readonly q: string },
): Promise<Page<Memory>> {
  const from = parseCursor(askedMemories(query), query.cursor);
  const words = fullTextQuery(q);
  if (words === undefined) return { items: [], total: 0, nextCursor: null };
  const { rows } = await searchMemories(db, filter, {
    text: q,
    from: undefined,
    limit: undefined,
  });
  const isWithheld = (row: MemoryRow) =>
    withheld.some(({ documentName, key }) => documentName === row.documentName && key === row.key);
  const all = [
    ...rows.filter((row) => !isWithheld(row)),
    ...(await matchingTexts(overlaid([], withheld), words, withholding.searched)),
  ];
  const given = Math.max(0, Math.trunc(from?.sort ?? 0));
  const endOf = (row: MemoryRow) => ({ sort: given + (query.limit ?? 0), id: row.memoryId });
  const page = pageOf(askedMemories(query), all.slice(given), { limit: query.limit, endOf });
  return { items: page.rows.map(toMemory), total: all.length, nextCursor: page.nextCursor };
}
