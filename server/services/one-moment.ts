import type { Kysely } from "kysely";
import type { MemoryFilter } from "../stores/memory-rows.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { marksOf } from "./kept-pages.ts";

/**
 * After so many tries the answer is given anyway, so that a client that never stops writing blocks
 * nobody.
 */
const TRIES_MAX = 4;

/**
 * Runs several queries about an account's documents as of one moment: they are repeated if somebody
 * wrote to the documents meanwhile. After four tries the last result counts.
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
