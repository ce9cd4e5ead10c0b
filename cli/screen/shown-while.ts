import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { Progress } from "./progress.ts";

const LOOK_MS = 250;
const REST_FACTOR = 4;
/** After this time a person may wonder what is waited for. */
const LATE_MS = 3000;

/**
 * How long to rest after a look. With hundreds of folders a look is much work, and what is waited
 * for needs the processor, too.
 */
export function restAfter(leastMs: number, tookMs: number): number {
  return Math.max(leastMs, REST_FACTOR * tookMs);
}

/** How much of some work is done. */
export interface Counts {
  readonly done: number;
  readonly total: number;
}

/** What is counted while one waits, and how much of it there is so far. */
export interface CountedWork {
  readonly unit: string;
  /** Undefined: nothing new is known. */
  counts(): Counts | undefined | Promise<Counts | undefined>;
  /** Says once what is waited for, where the work takes some seconds; also without a terminal. */
  sayLate?(): Promise<void>;
}

const UNCOUNTED: CountedWork = { unit: "", counts: () => ({ done: 0, total: 0 }) };

/**
 * Resolves as `work` does. On a terminal a line on standard error shows meanwhile how far it is, or
 * for how long it goes on where nothing can be counted; none for work of under a second. Nothing
 * else may be printed until then.
 */
export async function shownWhile<Result>(
  label: string,
  work: Promise<Result>,
  { unit, counts, sayLate }: CountedWork = UNCOUNTED,
): Promise<Result> {
  if (!process.stderr.isTTY && !sayLate) return await work;
  const progress = new Progress(label, unit);
  const ended = work.then(
    () => true,
    () => true,
  );
  const lateAt = realWorld.monotonic() + LATE_MS;
  let isSaid = sayLate === undefined;
  try {
    let restMs = LOOK_MS;
    while (!(await Promise.race([ended, delay(realWorld, restMs)]))) {
      const askedAt = realWorld.monotonic();
      const found = await Promise.race([ended, Promise.resolve(counts())]);
      restMs = restAfter(LOOK_MS, realWorld.monotonic() - askedAt);
      if (typeof found === "object") progress.update(found.done, found.total);
      if (isSaid || realWorld.monotonic() < lateAt) continue;
      isSaid = true;
      progress.end();
      await Promise.race([ended, sayLate?.()]);
    }
    return await work;
  } finally {
    progress.end();
  }
}
