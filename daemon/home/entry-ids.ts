import { sql } from "kysely";
import { parseStored } from "../../shared/json.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";

/** Reads JSON `[[client, clock], …]`, as `memories.entry_ids` and the `seen` columns hold it. */
export function parseEntryIds(text: string): EntryId[] {
  const pairs = parseStored<[number, number][]>(text);
  return pairs.map(([client, clock]) => ({ client, clock }));
}

/** Writes what `parseEntryIds` reads. */
export function entryIdsText(ids: readonly EntryId[]): string {
  return JSON.stringify(ids.map(({ client, clock }) => [client, clock]));
}

/** Whether a memory's row has several entries: in the words of the index of these rows. */
export const hasSeveralEntries = sql<boolean>`instr(entry_ids, '],[') > 0`;
