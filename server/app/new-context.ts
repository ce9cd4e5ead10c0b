import { randomRequestId } from "../../shared/ids.ts";
import { patientPauseOf } from "../../shared/turns.ts";
import { clientAddress } from "../http/client-address.ts";
import type { PeerAddress } from "../http/metrics-access.ts";
import type { RequestContext } from "../http/request-context.ts";
import type { AppDeps } from "./app-deps.ts";

/** If a browser is made to show an answer, it must do nothing with it. */
const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** What is known of a request that has just come. */
export function newContext({
  world,
  log,
  place,
  extraHeaders,
}: Pick<AppDeps, "world" | "log" | "place" | "extraHeaders">): RequestContext {
  const requestId = randomRequestId(world);
  const headers = { "X-Request-Id": requestId, ...SECURITY_HEADERS, ...extraHeaders };
  const pause = patientPauseOf(world);
  return { requestId, headers, peer: undefined, client: unknownAddress, pause, log, place };
}

const unknownAddress = () => undefined;

/** Looking up an address takes time, so it is done only for the requests that want it. */
export function contextOf(
  deps: AppDeps,
  { headers }: Request,
  peer: PeerAddress | undefined,
): RequestContext {
  const client = () => clientAddress(headers, peer, deps.trustedProxies);
  return { ...newContext(deps), peer, client };
}
