import { Elysia } from "elysia";
import type { Health, Ready, Unready } from "../../shared/wire/health.ts";
import { answer, answerRead } from "../http/answer.ts";
import { type RequestContext, withContext } from "../http/request-context.ts";
import type { Operations } from "../operations/operations.ts";

/** Paths that are served without a token of an account. */
export const OPEN_PATHS: ReadonlySet<string> = new Set([
  "/healthz",
  "/readyz",
  "/openapi.json",
  "/docs",
]);

/** Served without such a token to those who may read it. For others the path does not exist. */
export const METRICS_PATH = "/metrics";

/**
 * `GET /healthz`: the process answers. `GET /readyz`: it accepts requests; 503 while it does not.
 * `GET /metrics`: figures in Prometheus' text format.
 */
export function healthRoutes(operations: Operations | undefined) {
  const health = new Elysia()
    .use(withContext)
    .get("/healthz", ({ context, request }) =>
      answerRead(context, request, { body: { status: "ok" } satisfies Health }),
    )
    .get("/readyz", ({ context, request }) =>
      readyAnswer(context, request, operations?.readiness.told ?? "ready"),
    );
  if (!operations) return health;
  return health.get(METRICS_PATH, async ({ context }) =>
    metricsAnswer(context, await operations.metrics.render()),
  );
}

/** The answer of `/readyz` in a state. The only place that uses the status 503. */
export function readyAnswer(
  context: RequestContext,
  request: Request,
  state: Operations["readiness"]["state"],
): Response {
  if (state === "ready")
    return answerRead(context, request, { body: { status: state } satisfies Ready });
  const { body, headers } = answer(context, { status: state } satisfies Unready);
  return new Response(body, { status: 503, headers });
}

function metricsAnswer(context: RequestContext, text: string): Response {
  return new Response(text, {
    headers: {
      "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(text)),
      "Cache-Control": "no-store",
      ...context.headers,
    },
  });
}
