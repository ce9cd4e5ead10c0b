/**
 * What a resident daemon's runtime is told by its environment, which it reads at its start alone.
 *
 * Each time Bun has nothing to do its allocator, a mimalloc of its own, looks through all memory
 * for pages to give back, every 100 ms at the most: more than half of what an idle daemon uses of
 * a processor. In milliseconds, see mimalloc's options; one that does not know it passes over it.
 */
export const RUNTIME_ENVIRONMENT: Readonly<Record<string, string>> = {
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
};
