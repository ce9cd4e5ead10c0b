/** A page of a list; a service without paging gives everything and no cursor. */
interface Page {
  readonly next_cursor?: string | null;
}

/** The items of all pages, each fetched when the one before is used up. */
export async function* itemsOf<P extends Page, Item>(
  fetchPage: (cursor: string | undefined) => Promise<P>,
  itemsIn: (page: P) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor);
    yield* itemsIn(page);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
