import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { Progress } from "./progress.ts";

const LOOK_MS = 250;

/** How much of some work is done. */
export interface Counts {
  readonly done: number;
  readonly total: number;
}

/** What is counted while one waits, and how much of it there is so far. */
export interface CountedWork {
  readonly unit: string;
  /** Undefined: nothing is known anew. */
  counts(): Counts | undefined | Promise<Counts | undefined>;
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
  { unit, counts }: CountedWork = UNCOUNTED,
): Promise<Result> {
  if (!process.stderr.isTTY) return await work;
  const progress = new Progress(label, unit);
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    while (!(await Promise.race([ended, delay(realWorld, LOOK_MS)]))) {
      const found = await Promise.race([ended, Promise.resolve(counts())]);
      if (typeof found === "object") progress.update(found.done, found.total);
    }
    return await work;
  } finally {
    progress.end();
  }
}
