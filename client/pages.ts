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
    yield* itemsIn(page);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
