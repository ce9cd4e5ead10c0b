import { renameSync, writeFileSync } from "node:fs";

/** The longest turns of a program's loop, in milliseconds. */
export interface LongestTurns {
  /** By the clock, so with what else the machine did meanwhile. */
  readonly tookMs: number;
  /** Of the processor, by the thread of the loop. */
  readonly ranMs: number;
}

/** A turn in which nothing else is to be done ends after this time. */
const TICK_MS = 1;

const NONE: LongestTurns = { tookMs: 0, ranMs: 0 };

/** Keeps the longest turns since the last SIGUSR2 in a file. */
export function watchTurns(path: string): void {
  let longest = NONE;
  let before = now();
  const keep = (found: LongestTurns) => {
    longest = found;
    // Whoever reads it finds all of it.
    writeFileSync(`${path}.new`, JSON.stringify(longest));
    renameSync(`${path}.new`, path);
    before = now();
  };
  setInterval(() => {
    const at = now();
    const tookMs = Math.max(longest.tookMs, at.tookMs - before.tookMs - TICK_MS);
    const ranMs = Math.max(longest.ranMs, at.ranMs - before.ranMs);
    before = at;
    if (tookMs > longest.tookMs || ranMs > longest.ranMs) keep({ tookMs, ranMs });
  }, TICK_MS).unref();
  process.on("SIGUSR2", () => keep(NONE));
  keep(NONE);
}

function now(): LongestTurns {
  const { user, system } = process.threadCpuUsage();
  return { tookMs: performance.now(), ranMs: (user + system) / 1000 };
}
