import { NotFoundError } from "elysia";
import {
  AppError,
  ERROR_DETAILS_MAX,
  ERROR_STATUS,
  type ErrorCode,
  messageOf,
} from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";
import { storageFailure } from "../shared/sqlite/failures.ts";
import type { ErrorBody } from "../shared/wire/error.ts";
import type { RequestContext } from "./request-context.ts";

/**
 * The one place that turns something thrown into an answer. An `AppError` shows itself; whatever
 * else was thrown is a bug, shown as a bare 500 and logged under the request's id.
 */
export function errorResponse(context: RequestContext, thrown: unknown, log: Log): Response {
  const error = refusalOf(thrown);
  if (error.code === "internal") logFailure(context, thrown, log);
  const json = JSON.stringify(errorBody(context, error));
  return new Response(json, {
    status: ERROR_STATUS[error.code],
    headers: {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(json)),
      "Cache-Control": "no-store",
      ...(error.code === "unauthorized" && { "WWW-Authenticate": "Bearer" }),
      ...context.headers,
    },
  });
}

function refusalOf(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof NotFoundError) return noSuchPath();
  const message = "the server failed; the log says more under this request id";
  return new AppError("internal", storageFailure(thrown) ?? message);
}

/** For a path, or a method of a path, that nothing is served at. */
export function noSuchPath(): AppError {
  return new AppError("not_found", "there is no such path or method");
}

function errorBody(context: RequestContext, error: AppError): ErrorBody {
  const { code, message, details } = error;
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

function logFailure(context: RequestContext, thrown: unknown, log: Log): void {
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  log.error({ request_id: context.requestId, error: messageOf(thrown), stack }, "request failed");
}
