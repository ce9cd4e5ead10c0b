import { AppError } from "../../../shared/errors.ts";
import type { Log } from "../../../shared/log.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import type { World } from "../../../shared/world.ts";
import { newContext } from "../../app/new-context.ts";
import { answer } from "../../http/answer.ts";
import { errorResponse, noSuchPath } from "../../http/errors-to-response.ts";
import { hasBody } from "../../http/has-body.ts";
import type { PeerAddress } from "../../http/metrics-access.ts";
import { pathOf } from "../../http/query.ts";
import { type ControlGuard, refuseStrangers } from "./control-guard.ts";
import type { ControlRoute } from "./control-routes.ts";

/** Below it are the control calls; it itself is the live page. */
export const CONTROL_PREFIX = "/_emulator/";

/** What answers the control calls. Never rejects. */
export type ControlPlane = (request: Request, peer?: PeerAddress) => Promise<Response>;

/**
 * The control calls of an emulator, behind their guard: no page of another site gets through, and
 * where other machines reach the port nobody without the token.
 */
export function createControlPlane(
  routes: readonly ControlRoute[],
  guard: ControlGuard,
  app: {
    readonly world: World;
    readonly log: Log;
    readonly extraHeaders: Readonly<Record<string, string>>;
  },
): ControlPlane {
  return async (request, peer) => {
    const context = newContext(app);
    try {
      // With a malformed `Host` the request has no URL, from which the calls read their parameters.
      if (!URL.canParse(request.url)) {
        throw new AppError("invalid_request", "the header Host names no host");
      }
      const path = pathOf(request.url).slice(CONTROL_PREFIX.length);
      refuseStrangers(guard, request, { path, address: peer?.()?.address });
      const call = find(routes, request.method === "HEAD" ? "GET" : request.method, path);
      if (!call) throw noSuchPath();
      const query = new URL(request.url).searchParams;
      refuseDoubleParameters(query);
      refuseIdleBody(request);
      const body = await call.route.answer({ request, query, name: call.name, context });
      return body instanceof Response ? body : answer(context, body);
    } catch (thrown) {
      return errorResponse(context, thrown);
    }
  };
}

/** If a parameter is given twice, nobody can tell which value is meant. */
function refuseDoubleParameters(query: URLSearchParams): void {
  for (const name of new Set(query.keys())) {
    if (query.getAll(name).length > 1) throw refusedAt(name, "is given twice");
  }
}

/**
 * Such a call reads no body. A caller who names an account there would get the call for all
 * accounts, so it is refused.
 */
function refuseIdleBody({ method, headers }: Request): void {
  const takesNone = method === "DELETE" || method === "GET" || method === "HEAD";
  if (!takesNone || !hasBody(headers)) return;
  const where = "what it is about goes into the address, as in ?token=mst_dev_a";
  throw new AppError("invalid_request", `${method} takes no body here: ${where}`);
}

function find(routes: readonly ControlRoute[], method: string, path: string) {
  const parts = path.split("/");
  for (const route of routes) {
    const pattern = route.path.split("/");
    if (route.method !== method || pattern.length !== parts.length) continue;
    if (!pattern.every((part, at) => part === "*" || part === parts[at])) continue;
    const open = pattern.indexOf("*");
    const name = open === -1 ? "" : decoded(parts[open] ?? "");
    return name === undefined ? undefined : { route, name };
  }
  return undefined;
}

/** Undefined for what is no text. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
