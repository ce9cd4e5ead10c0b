import type { MemsyncErrorCode } from "./memsync-error.ts";

/** One request of a call, after its answer or its failure. Has no token, body or query. */
export interface Attempt {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
  readonly durationMs: number;
  /** HTTP status of the answer; 0 when none came. */
  readonly status: number;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** The header `RateLimit`: what is left of the account's requests; see docs/interface.md. */
  readonly rateLimit: string | undefined;
  /** Undefined for an answer to the call; `aborted` if the caller's signal ended it. */
  readonly code: MemsyncErrorCode | "aborted" | undefined;
  /** The call is made again after so many milliseconds; undefined if this was the last attempt. */
  readonly retryInMs: number | undefined;
}
