const POLL_MS = 10;

/** A long run beside others on a slow machine waits this many times as long. */
export const PATIENCE = Number(process.env.MEMSYNC_TEST_PATIENCE ?? 1);

/** Who is asked then rests three times as long as the answer took, at most this: it has to work. */
const REST_MS_MAX = 250;

const DEADLINE_MS = 30_000 * PATIENCE;

/** What a condition gives while it does not hold yet. */
type NotYet = false | undefined | null;

/**
 * Resolves to what `condition` gives once that is neither false nor nothing; asks again `pollMs`
 * after each answer, or later after one that took longer. Rejects after `deadlineMs`, saying what
 * was waited for and how the last look ended.
 */
export async function waitFor<Found>(
  what: string,
  condition: () => Promise<Found | NotYet> | Found | NotYet,
  deadlineMs = DEADLINE_MS,
  pollMs = POLL_MS,
): Promise<Found> {
  const deadline = performance.now() + deadlineMs;
  let last: unknown;
  for (;;) {
    const askedAt = performance.now();
    try {
      const found = await condition();
      if (found !== false && found !== undefined && found !== null) return found;
      last = found;
    } catch (thrown) {
      last = thrown;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${deadlineMs} ms in vain for ${what}; last: ${String(last)}`);
    }
    await Bun.sleep(Math.max(pollMs, Math.min(3 * (performance.now() - askedAt), REST_MS_MAX)));
  }
}
