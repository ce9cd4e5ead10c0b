import { timingSafeEqual } from "node:crypto";
import { AppError } from "../../../shared/errors.ts";
import type { Log } from "../../../shared/log.ts";
import type { World } from "../../../shared/world.ts";
import { hashToken } from "../../accounts/token.ts";
import { newContext } from "../../app/new-context.ts";
import { answer } from "../../http/answer.ts";
import { bearerToken } from "../../http/bearer.ts";
import { errorResponse, noSuchPath } from "../../http/errors-to-response.ts";
import { refuseForeign } from "../../http/loopback.ts";
import { pathOf } from "../../http/query.ts";
import type { ControlRoute } from "./control-routes.ts";

/** Below it are the control calls. */
export const CONTROL_PREFIX = "/_emulator/";

/** Who may control the emulator. */
export interface ControlGuard {
  /** Names, besides this machine's own, that a request may use as its host. */
  readonly allowedHosts: readonly string[];
  /** Asked for as a bearer token, whatever the host, where other machines reach the port. */
  readonly token?: string | undefined;
}

/** What answers the control calls. Never rejects. */
export type ControlPlane = (request: Request) => Promise<Response>;

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
  return async (request) => {
    const context = newContext(app);
    try {
      const path = pathOf(request.url).slice(CONTROL_PREFIX.length);
      refuseStrangers(guard, request, path);
      const call = find(routes, request.method === "HEAD" ? "GET" : request.method, path);
      if (!call) throw noSuchPath();
      const query = new URL(request.url).searchParams;
      const body = await call.route.answer({ request, query, name: call.name });
      return body instanceof Response ? body : answer(context, body);
    } catch (thrown) {
      return errorResponse(context, thrown);
    }
  };
}

/** A container's own check of health knows no token, and learns nothing. */
const OPEN_TO_ALL = "health";

function refuseStrangers(
  { allowedHosts, token }: ControlGuard,
  { headers, method }: Request,
  path: string,
): void {
  const isHealth = path === OPEN_TO_ALL && method === "GET";
  const known = new Headers(headers);
  // Whoever has the token may use any name of this machine; a page of another site has none.
  if (token !== undefined) known.delete("host");
  refuseForeign(known, allowedHosts);
  const site = headers.get("sec-fetch-site");
  if (site === "cross-site" && headers.get("sec-fetch-mode") !== "navigate") {
    throw new AppError("forbidden", "pages of other sites may not control the emulator");
  }
  if (token === undefined || isHealth) return;
  const given = bearerToken(headers.get("authorization"));
  if (given !== undefined && equal(given, token)) return;
  throw new AppError("unauthorized", "the emulator printed the token for this when it started");
}

function equal(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(one)), Buffer.from(hashToken(other)));
}

function find(routes: readonly ControlRoute[], method: string, path: string) {
  const parts = path.split("/");
  for (const route of routes) {
    const pattern = route.path.split("/");
    if (route.method !== method || pattern.length !== parts.length) continue;
    if (!pattern.every((part, at) => part === "*" || part === parts[at])) continue;
    const open = pattern.indexOf("*");
    return { route, name: open === -1 ? "" : decodeURIComponent(parts[open] ?? "") };
  }
  return undefined;
}
