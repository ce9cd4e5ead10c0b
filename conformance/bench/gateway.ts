import type { Exchange } from "./exchange.ts";
import { NotHere } from "./rule.ts";

/** Sent by a daemon's gateway, which answers from the local replica. */
const HEADER = "x-memsync-gateway";

/** The only call that a gateway passes on. */
const PASSED_ON = "/api/projects/connect";

/** Whether a gateway could not pass a connection on, because its service does not answer. */
export function isOffline({ headers, path, status }: Exchange): boolean {
  return headers.has(HEADER) && path === PASSED_ON && status === 500;
}

/** Throws `NotHere` for a connection that a gateway could not pass on. */
export function expectNotPassedOn(exchange: Exchange): void {
  if (isOffline(exchange)) {
    throw new NotHere("a gateway passes connections on to its service, which can't be reached");
  }
  if (exchange.headers.has(HEADER) && exchange.status === 404) {
    throw new NotHere("a gateway passes connections on, and its service lacks these projects");
  }
}
