import type { AccountId, RequestId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Readiness } from "./readiness.ts";
import type { ServerMetrics } from "./server-metrics.ts";

/** How a server is operated: whether it wants requests, what it counts, who may look. */
export interface Operations {
  readonly readiness: Readiness;
  readonly metrics: ServerMetrics;
  /** Needed to read the metrics; without one this machine alone may. */
  readonly metricsToken: string | undefined;
}

/** One request that was answered. */
export interface AnsweredRequest {
  readonly requestId: RequestId;
  /** Whose request; undefined when its token was not accepted, or none was needed. */
  readonly account: AccountId | undefined;
  readonly method: string;
  /** The pattern that its path matches. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Bytes of the answer's body. */
  readonly bytes: number;
}

const METHODS = new Set(["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"]);

/** Probes and scrapes come every few seconds, and say nothing when they go well. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * Counts a request and writes its line: ids, a pattern and figures, and nothing of what was sent
 * or answered, the path and the query included.
 */
export function recordRequest(operations: Operations, log: Log, answered: AnsweredRequest): void {
  const { route, status, durationMs, bytes } = answered;
  // What a client calls a method may be anything.
  const method = METHODS.has(answered.method) ? answered.method : "OTHER";
  operations.metrics.countRequest(route, method, { status, seconds: durationMs / 1000 });
  const quiet = QUIET_ROUTES.has(route) && status < 400;
  const fields = {
    request_id: answered.requestId,
    method,
    route,
    status,
    duration_ms: Math.round(durationMs * 1000) / 1000,
    bytes,
    account: answered.account,
  };
  if (quiet) log.debug(fields, "request");
  else log.info(fields, "request");
}
