import type { ErrorCode, ErrorDetail } from "../shared/errors.ts";

/**
 * Why a call failed: a code of the interface; `unreachable` without an answer of the service;
 * `unexpected_answer` for an answer that does not follow the interface.
 */
export type MemsyncErrorCode = ErrorCode | "unreachable" | "unexpected_answer";

/** What is known of a failed call besides its message. */
export interface MemsyncErrorInfo {
  readonly code: MemsyncErrorCode;
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** What every failed call rejects with, unless its caller aborted it. */
export class MemsyncError extends Error {
  override readonly name = "MemsyncError";
  readonly code: MemsyncErrorCode;
  /** HTTP status of the answer; 0 when none came. */
  readonly status: number;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** Each offending place of the request: a JSON Pointer into the body, or a parameter's name. */
  readonly details: readonly ErrorDetail[];
  /** When the same call can be answered, if the answer said so, as with `rate_limited`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, info: MemsyncErrorInfo) {
    super(message, { cause: info.cause });
    this.code = info.code;
    this.status = info.status;
    this.requestId = info.requestId;
    this.details = info.details ?? [];
    this.retryAfterSeconds = info.retryAfterSeconds;
  }
}
