import { NotFoundError } from "elysia";
import {
  AppError,
  ERROR_DETAILS_MAX,
  ERROR_STATUS,
  type ErrorCode,
  messageOf,
  RateLimited,
} from "../../shared/errors.ts";
import { storageFailure } from "../../shared/sqlite/failures.ts";
import type { ErrorBody } from "../../shared/wire/error.ts";
import type { RequestContext } from "./request-context.ts";

/**
 * The only place that turns a thrown value into an answer. An `AppError` says what is
 * shown; anything else is a bug, answered by a bare 500 and logged with the request's id.
 */
export function errorResponse(context: RequestContext, thrown: unknown): Response {
  const body = errorBody(context, thrown);
  const json = JSON.stringify(body);
  return new Response(json, {
    status: ERROR_STATUS[body.error.code],
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(json)),
      "Cache-Control": "no-store",
      ...(body.error.code === "unauthorized" && { "WWW-Authenticate": "Bearer" }),
      ...(thrown instanceof RateLimited && { "Retry-After": String(thrown.retryAfterSeconds) }),
      ...context.headers,
    },
  });
}

function refusalOf(thrown: unknown, place: string | undefined): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof NotFoundError) return noSuchPath();
  const message = "the server failed; the log says more under this request id";
  return new AppError("internal", storageFailure(thrown, place) ?? message);
}

/** For an unknown path, or an unknown method of a path. */
export function noSuchPath(): AppError {
  return new AppError("not_found", "there is no such path or method");
}

/** An error's body: of a whole answer, or of one refused part of a request. */
export function errorBody(context: RequestContext, thrown: unknown): ErrorBody {
  const error = refusalOf(thrown, context.place);
  const { code, told: message, details } = error;
  if (code === "internal" || message !== error.message) logFailure(context, thrown);
  const body: { code: ErrorCode; message: string; request_id: string } = {
    code,
    message,
    request_id: context.requestId,
  };
  if (details.length === 0) return { error: body };
  if (details.length <= ERROR_DETAILS_MAX) return { error: { ...body, details: [...details] } };
  const shown = details.slice(0, ERROR_DETAILS_MAX);
  return { error: { ...body, details: shown, details_truncated: true } };
}

function logFailure({ requestId, log }: RequestContext, thrown: unknown): void {
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  log.error({ request_id: requestId, error: messageOf(thrown), stack }, "request failed");
}
