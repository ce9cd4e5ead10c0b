// Loaded before a daemon: on SIGUSR2 it cleans up as in a quiet time, and says what is left.
import { heapStats } from "bun:jsc";

/** What one collection finalizes the next one frees. */
const COLLECTIONS = 3;

process.on("SIGUSR2", () => collect(COLLECTIONS));

function collect(left: number): void {
  Bun.gc(true);
  if (left > 0) {
    setImmediate(() => collect(left - 1));
    return;
  }
  Bun.shrink();
  const { heapSize, objectTypeCounts } = heapStats();
  const timers = objectTypeCounts.Timeout ?? 0;
  process.stderr.write(`collected ${JSON.stringify({ heapBytes: heapSize, timers })}\n`);
}
