import type { AccountId, RequestId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Readiness } from "./readiness.ts";
import type { ServerMetrics } from "./server-metrics.ts";

/** How a server is operated: its readiness, its metrics, and who may read them. */
export interface Operations {
  readonly readiness: Readiness;
  readonly metrics: ServerMetrics;
  /** Needed to read the metrics. Without one, only this machine may. */
  readonly metricsToken: string | undefined;
}

/** A request that was answered. */
export interface AnsweredRequest {
  readonly requestId: RequestId;
  /** The caller's account; undefined without a valid token. */
  readonly account: AccountId | undefined;
  /** Gives the client's address, if it is known. */
  readonly client: () => string | undefined;
  readonly method: string;
  /** The pattern of its path. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Size of the answer's body in bytes. */
  readonly bytes: number;
}

const METHODS = new Set(["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"]);

/** Probes and scrapes come every few seconds. Successful ones are not logged. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * Counts a request and logs it: ids, a pattern, figures and the client's address. Nothing that was
 * sent or answered is logged, including the path and the query.
 */
export function recordRequest(operations: Operations, log: Log, answered: AnsweredRequest): void {
  const { route, status, durationMs, bytes } = answered;
  // A client may send any text as the method.
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
    /** Looked up only if the line is written. */
    get client() {
      return answered.client();
    },
  };
  if (quiet) log.debug(fields, "request");
  else log.info(fields, "request");
}
