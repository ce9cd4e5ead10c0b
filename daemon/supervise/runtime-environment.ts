/**
 * Settings of a resident daemon's runtime, which reads them only at its start.
 *
 * Whenever Bun is idle, its allocator (its own mimalloc) searches all memory for pages to give
 * back, as often as every 100 ms. That is more than half of the processor time of an idle daemon.
 * In milliseconds; see mimalloc's options. A runtime that does not know it ignores it.
 */
export const RUNTIME_ENVIRONMENT: Readonly<Record<string, string>> = {
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
};
