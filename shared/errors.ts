/**
 * The registry of refusals: each code that a caller may see, with its HTTP status. `routes` turn an
 * `AppError` into an error body; the command line prints its message.
 */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  rate_limited: 429,
  internal: 500,
} as const;

/** A code of the registry, as in `error.code`. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** One wrong place: a JSON Pointer into the body, or a parameter's name. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** At most this many details are in one error body; `details_truncated` says if there were more. */
export const ERROR_DETAILS_MAX = 100;

/**
 * A refusal for the caller to see. The message says what is wrong and what to do, and never
 * contains a submitted value.
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

  /** What a caller of the interface is told. The log may say more. */
  get told(): string {
    return this.message;
  }
}

/** A 429. The same request may succeed after `retryAfterSeconds`. */
export class RateLimited extends AppError {
  constructor(
    message: string,
    readonly retryAfterSeconds: number,
  ) {
    super("rate_limited", message);
  }
}

/** Nothing answered where the service is. A caller of the interface is told no more by the code. */
export class ServiceAway extends AppError {
  constructor(message: string) {
    super("internal", message);
  }
}

/** A 400 that points at one place of the request. */
export function invalidAt(path: string, message: string): AppError {
  return new AppError("invalid_request", message, [{ path, message }]);
}

/** A bug: the program contradicts itself. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Throws if the program contradicts itself. Never used for a caller's input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(`assertion failed: ${message}`);
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
