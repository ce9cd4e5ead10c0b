import { Elysia } from "elysia";
import type { RequestId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Pause } from "../../shared/turns.ts";
import type { Charge, Quota } from "../limits/quota.ts";
import type { Caller } from "../services/services.ts";
import type { PeerAddress } from "./metrics-access.ts";

/** What is known of a request from its arrival on. */
export interface RequestContext {
  readonly requestId: RequestId;
  /** Sent with every answer: the request's id, the quota, and the app's own headers. */
  readonly headers: Record<string, string>;
  /** The other end of the socket; undefined where there is none. */
  readonly peer: PeerAddress | undefined;
  /** Gives the address of the client; undefined where there is none, or its socket has ended. */
  readonly client: () => string | undefined;
  /** To be called between the steps of long work. */
  readonly pause: Pause;
  /** Where failures are logged. */
  readonly log: Log;
  /** The folder of the data, for callers on the same machine. */
  readonly place: string | undefined;
}

/** A request whose token was accepted. */
export interface CallerContext extends RequestContext {
  readonly caller: Caller;
  /** Of the caller's account. */
  readonly quota: Quota;
  /** Undefined before it is charged. */
  charge?: Charge | undefined;
}

/**
 * Declares `context` to the routes. The app sets it on every request before the route is looked up,
 * so a handler behind a token always finds a caller in it.
 */
export const withContext = new Elysia({ name: "memsync:context" }).decorate(
  "context",
  // No handler sees this object, since the app replaces it first. It is here for its type.
  {} as CallerContext,
);
