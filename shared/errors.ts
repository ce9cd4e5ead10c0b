/**
 * The registry of refusals: each code that a caller may see and the HTTP status it travels with.
 * `routes` turn an `AppError` into the wire's error body; the command line prints its message.
 */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  rate_limited: 429,
  internal: 500,
} as const;

/** A code of the registry, as `error.code` has it on the wire. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** One offending place: a JSON Pointer into the body, or the parameter's name. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** At most this many details travel in one error body; `details_truncated` says there were more. */
export const ERROR_DETAILS_MAX = 100;

/**
 * A refusal that the caller is meant to see. The message says what is wrong and what to do, and
 * never repeats a submitted value.
 */
export class AppError extends Error {
  override readonly name = "AppError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: readonly ErrorDetail[] = [],
  ) {
    super(message);
  }
}

/** A 400 that points at one place of the request. */
export function invalidAt(path: string, message: string): AppError {
  return new AppError("invalid_request", message, [{ path, message }]);
}

/** The program contradicts itself. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Throws when the program contradicts itself; never for what a caller sent. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(`assertion failed: ${message}`);
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
