import type { ErrorBody } from "../shared/wire/error.ts";
import { MemsyncError, type MemsyncErrorCode } from "./memsync-error.ts";

const SECONDS = /^\d{1,9}$/;

/** The JSON of a 200. Throws a `MemsyncError` for any other answer. */
export function readAnswer(response: Response, text: string): unknown {
  const body = parseJson(text);
  if (response.status === 200 && body !== undefined) return body;
  const { headers, status } = response;
  const retryAfter = headers.get("retry-after") ?? "";
  const retryAfterSeconds = SECONDS.test(retryAfter) ? Number(retryAfter) : undefined;
  const { error } = isErrorBody(body) ? body : foreign(response);
  throw new MemsyncError(error.message, {
    code: error.code,
    status,
    requestId: error.request_id ?? headers.get("x-request-id") ?? undefined,
    details: error.details,
    retryAfterSeconds,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== "object" || body === null || !("error" in body)) return false;
  const { error } = body;
  if (typeof error !== "object" || error === null || !("code" in error)) return false;
  return typeof error.code === "string" && "message" in error && typeof error.message === "string";
}

interface Foreign {
  readonly error: Omit<ErrorBody["error"], "code" | "request_id"> & {
    readonly code: MemsyncErrorCode;
    readonly request_id?: string;
  };
}

/** What a proxy answers for a service that it can't reach. */
const GATEWAY_STATUSES: readonly number[] = [502, 503, 504];

/** An answer from something in between, or from another kind of server. */
function foreign({ status }: Response): Foreign {
  if (GATEWAY_STATUSES.includes(status)) {
    const message = `something in between can't reach the service (status ${status}): try later`;
    return { error: { code: "unreachable", message } };
  }
  const message = `the answer (status ${status}) is none of the interface's: look at the url`;
  return { error: { code: status === 429 ? "rate_limited" : "unexpected_answer", message } };
}
