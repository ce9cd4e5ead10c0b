import type { PageEnd } from "../stores/cursor.ts";
import type { MemoryFilter } from "../stores/memory-rows.ts";
import {
  LISTED_AT_ONCE,
  listAllMemories,
  listMemories,
  type MemoryRow,
} from "../stores/memory-store.ts";
import { marksOf } from "./kept-pages.ts";
import { LongReads } from "./long-reads.ts";
import type { ServiceStore } from "./service-store.ts";

const readsOf = new WeakMap<ServiceStore, LongReads>();

/**
 * All memories of a list, oldest first, from after `from`. A long list waits for its turn, and is
 * read in several: as of one moment, if nobody writes to its documents meanwhile; else as it is
 * after that. Not to be called within a write, which would wait for itself.
 */
export async function listWhole(
  store: ServiceStore,
  filter: MemoryFilter,
  from?: PageEnd,
): Promise<MemoryRow[]> {
  const first = await listMemories(store.reader, filter, { from, limit: LISTED_AT_ONCE });
  if (first.length < LISTED_AT_ONCE) return first;
  // Who waits holds no rows.
  first.length = 0;
  const reads = readsOf.get(store) ?? new LongReads();
  readsOf.set(store, reads);
  return await reads.run(filter.account, () => listInTurns(store, filter, from));
}

async function listInTurns(
  { reader, pause }: ServiceStore,
  filter: MemoryFilter,
  from: PageEnd | undefined,
): Promise<MemoryRow[]> {
  const marks = await marksOf(reader, filter);
  const rows = await listAllMemories(reader, filter, { from, pause });
  if ((await marksOf(reader, filter)) === marks) return rows;
  return await listMemories(reader, filter, { from, limit: undefined });
}
