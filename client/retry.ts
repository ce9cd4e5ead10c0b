import type { MemsyncError } from "./memsync-error.ts";

/** Longest pause before the second attempt; it doubles from one attempt to the next. */
const BACKOFF_MS = 200;
const BACKOFF_MS_MAX = 10_000;

/** One failed attempt of a call. */
export interface Failure {
  readonly error: MemsyncError;
  /** From 1. */
  readonly attempt: number;
  /** Whether what it asked for may be done twice without harm. */
  readonly repeatable: boolean;
  /** A random number in [0, 1). */
  readonly random: number;
}

/**
 * Milliseconds to wait before the next attempt; undefined when there must be none. After a 429
 * nothing was done, so any call may be repeated, as soon as the server says. After a failure of the
 * server or the network it is unknown what was done. The pause has full jitter.
 */
export function pauseAfter({ error, attempt, repeatable, random }: Failure): number | undefined {
  const backoffMs = random * Math.min(BACKOFF_MS * 2 ** (attempt - 1), BACKOFF_MS_MAX);
  if (error.status === 429) return (error.retryAfterSeconds ?? 0) * 1000 + backoffMs;
  const failed = error.code === "unreachable" || error.status >= 500;
  return failed && repeatable ? backoffMs : undefined;
}
