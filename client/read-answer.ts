import type { ErrorBody } from "../shared/wire/error.ts";
import { MemsyncError, type MemsyncErrorCode } from "./memsync-error.ts";

const SECONDS = /^\d{1,9}$/;

/** So much of an answer from elsewhere is told. */
const TOLD_LENGTH = 120;

/**
 * The JSON object of a 200, or of another 2xx that some services have. Throws a `MemsyncError` for
 * any other answer. `hint`: the end of the message for a path that is unknown.
 */
export function readAnswer(response: Response, text: string, hint = ""): unknown {
  const body = parseJson(text);
  if (response.ok && typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  const { headers, status } = response;
  const { error } = isErrorBody(body) ? body : foreign(response, text);
  throw new MemsyncError(`${error.message}${status === 404 ? hint : ""}`, {
    code: error.code,
    status,
    requestId: error.request_id ?? headers.get("x-request-id") ?? undefined,
    details: error.details,
    retryAfterSeconds: retryAfterSeconds(headers),
  });
}

/** A date is taken by the clock that wrote it, which the answer tells. */
function retryAfterSeconds(headers: Headers): number | undefined {
  const told = headers.get("retry-after") ?? "";
  if (SECONDS.test(told)) return Number(told);
  const seconds = Math.ceil((Date.parse(told) - Date.parse(headers.get("date") ?? "")) / 1000);
  return seconds >= 0 ? seconds : undefined;
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
function foreign({ status }: Response, text: string): Foreign {
  // Something in between may repeat what it was sent.
  const piece = JSON.stringify(
    text
      .trim()
      .replaceAll(/mst_\w+/g, "mst_…")
      .slice(0, TOLD_LENGTH),
  );
  const told = text.trim() === "" ? "" : `; it begins ${piece}`;
  if (GATEWAY_STATUSES.includes(status)) {
    const message = `something in between can't reach the service (status ${status}): try later`;
    return { error: { code: "unreachable", message: `${message}${told}` } };
  }
  const what = `the answer (status ${status}) is none of the interface's: look at the url`;
  const message = `${what}${told}`;
  return { error: { code: status === 429 ? "rate_limited" : "unexpected_answer", message } };
}
