import { Elysia } from "elysia";
import type { Health } from "../../shared/wire/health.ts";
import { answer } from "../answer.ts";
import { withContext } from "../request-context.ts";

/** Paths that are served without a token. */
export const OPEN_PATHS: ReadonlySet<string> = new Set(["/healthz", "/openapi.json", "/docs"]);

/** `GET /healthz`: the process answers. */
export function healthRoutes() {
  return new Elysia()
    .use(withContext)
    .get("/healthz", ({ context }) => answer(context, { status: "ok" } satisfies Health));
}
