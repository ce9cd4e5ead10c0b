import { MemsyncError } from "./memsync-error.ts";

/** Size of the pages in which the iterators fetch. */
const PAGE_SIZE = 100;

/** Which page of a list: everything that is left after `cursor` when there is no `limit`. */
export interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of a list; a service without paging gives everything and no cursor. */
interface Page {
  readonly next_cursor?: string | null;
}

/** A list without end must not keep a program for ever. */
function unexpected(what: string): MemsyncError {
  return new MemsyncError(`the answer is none of the interface's: ${what}`, {
    code: "unexpected_answer",
    status: 200,
  });
}

/** The items of all pages, each fetched when the one before is used up. */
export async function* itemsOf<P extends Page, Item>(
  query: Pick<PageQuery, "limit">,
  fetchPage: (page: PageQuery) => Promise<P>,
  itemsIn: (page: P) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await fetchPage({
      limit: PAGE_SIZE,
      ...query,
      ...(cursor !== undefined && { cursor }),
    });
    const items = itemsIn(page);
    if (!Array.isArray(items)) throw unexpected("a list has no items");
    yield* items;
    const next = page.next_cursor ?? undefined;
    if (next !== undefined && next === cursor) throw unexpected("a list repeats its cursor");
    cursor = next;
  } while (cursor !== undefined);
}
