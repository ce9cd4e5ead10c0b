import { refusedAt } from "../../../shared/wire/parse.ts";
import { inWireNames } from "../faults/wire-names.ts";
import type {
  EmulatorRequests,
  RequestFilter,
  SeenRequest,
  Violation,
} from "../interface/requests.ts";

const NAMES: readonly string[] = [
  ...["token", "method", "path", "status", "since", "frame", "close_code"],
  ...["min", "wait_ms", "after"],
];

/** A client waits no longer than this for one answer. */
const WAIT_MS_MAX = 60_000;

/**
 * The requests that a query asks for. With `wait_ms` it waits until there are `min` of them, 1 when
 * left out; `timed_out` says that there were fewer. With `after` it answers what has changed since.
 */
export async function requestsAsked(requests: EmulatorRequests, query: URLSearchParams) {
  for (const name of query.keys()) {
    if (!NAMES.includes(name)) throw refusedAt(name, "is not a parameter of this call");
  }
  const text = (name: string) => query.get(name) ?? undefined;
  const filter: RequestFilter = {
    ...{ token: text("token"), method: text("method"), path: text("path"), since: text("since") },
    ...{ frame: text("frame"), status: number(query, "status") },
    closeCode: number(query, "close_code"),
  };
  const [min, waitMs, after] = [number(query, "min"), number(query, "wait_ms"), text("after")];
  const timeoutMs = Math.min(waitMs ?? 0, WAIT_MS_MAX);
  if (after !== undefined)
    return await requests.changes({ ...filter, after, timeoutMs }).catch(refuse);
  if (waitMs === undefined) return await requests.list(filter).catch(refuse);
  const came = await requests
    .waitFor({ ...filter, count: min ?? 1, timeoutMs })
    .then(() => true)
    .catch(() => false);
  return { ...(await requests.list(filter).catch(refuse)), ...(!came && { timed_out: true }) };
}

function refuse(thrown: unknown): never {
  throw inWireNames(thrown);
}

function number(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw refusedAt(name, "must be a whole number");
}

/** A request as an answer shows it. */
export function requestAnswer(seen: SeenRequest) {
  const { receivedAt, finishedAt, responseBody, responseHeaders, violations, ...more } = seen;
  const { framesDropped, ...rest } = more;
  return {
    ...rest,
    received_at: receivedAt,
    finished_at: finishedAt,
    response_headers: responseHeaders,
    response_body: responseBody,
    violations: violations?.map(violationAnswer),
    frames_dropped: framesDropped,
  };
}

/** A violation as an answer shows it. */
export function violationAnswer({ requestId, ...rest }: Violation) {
  return { ...rest, request_id: requestId };
}
