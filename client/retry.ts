import type { MemsyncError } from "./memsync-error.ts";

/** The longest pause before the second attempt. It doubles with each attempt. */
const BACKOFF_MS = 200;
const BACKOFF_MS_MAX = 10_000;

/** One failed attempt of a call. */
export interface Failure {
  readonly error: MemsyncError;
  /** From 1. */
  readonly attempt: number;
  /** Whether the call can be made twice without harm. */
  readonly repeatable: boolean;
  /** A random number in [0, 1). */
  readonly random: number;
}

/**
 * Milliseconds to wait before the next attempt; undefined for no further attempt. After a 429
 * nothing was done, so any call may be repeated. After a failure of the server or the network, it
 * is unknown what was done. The pause is as long as the answer asks, and full jitter.
 */
export function pauseAfter({ error, attempt, repeatable, random }: Failure): number | undefined {
  const backoffMs = random * Math.min(BACKOFF_MS * 2 ** (attempt - 1), BACKOFF_MS_MAX);
  const failed = error.code === "unreachable" || error.status >= 500;
  const mayRepeat = error.status === 429 || (failed && repeatable);
  return mayRepeat ? (error.retryAfterSeconds ?? 0) * 1000 + backoffMs : undefined;
}
