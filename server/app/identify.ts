import { AppError } from "../../shared/errors.ts";
import { bearerToken } from "../http/bearer.ts";
import { REFUSED_TOKEN } from "../http/refused-token.ts";
import type { CallerContext, RequestContext } from "../http/request-context.ts";
import { UNLIMITED } from "../limits/quota.ts";
import type { AppDeps } from "./app-deps.ts";

/** Adds the caller of a request to its context, and what is left to the account. Throws the 401. */
export async function identify(
  deps: AppDeps,
  context: RequestContext,
  headers: Headers,
): Promise<CallerContext> {
  const caller = await deps.authenticate(headers.get("authorization"));
  if (caller === undefined) {
    throw new AppError("unauthorized", whyUnauthorized(headers, deps.refusedToken));
  }
  const quota = deps.quotaOf?.(caller) ?? UNLIMITED;
  return { ...context, caller, quota: quota instanceof Promise ? await quota : quota };
}

/** The answer does not say why a token is refused, only that one was sent and read. */
function whyUnauthorized(headers: Headers, refused: AppDeps["refusedToken"]): string {
  const token = bearerToken(headers.get("authorization"));
  if (token === undefined) return "a valid API token is needed: Authorization: Bearer <token>";
  return refused?.(token) ?? REFUSED_TOKEN;
}
