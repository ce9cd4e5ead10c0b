import type { Kysely } from "kysely";
import type { MemoryFilter } from "../stores/memory-rows.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { marksOf } from "./kept-pages.ts";

/** Who writes without rest keeps nobody from an answer. */
const TRIES_MAX = 4;

/**
 * What several queries find in an account's documents, as of one moment: it is read again where
 * somebody wrote to them meanwhile. After four tries it is what the last one found.
 */
export async function asOfOneMoment<Found>(
  db: Kysely<ServiceTables>,
  documents: MemoryFilter,
  read: () => Promise<Found>,
): Promise<Found> {
  let marks = await marksOf(db, documents);
  for (let tries = 1; ; tries += 1) {
    const found = await read();
    const after = await marksOf(db, documents);
    if (after === marks || tries === TRIES_MAX) return found;
    marks = after;
  }
}
