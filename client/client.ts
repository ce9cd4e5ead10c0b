// The typed client for programs that use the REST interface: `memsync/client`.
// It imports from `shared/` alone.

import { ApiClient } from "./api-client.ts";
import { Calls } from "./calls.ts";
import { platformWorld } from "./platform.ts";
import { type CallOptions, checkHeader, Transport, type TransportOptions } from "./transport.ts";
import { V1Client } from "./v1-client.ts";
import type { Health } from "./wire.ts";

export type { ErrorDetail } from "../shared/errors.ts";
export type { ApiClient } from "./api-client.ts";
export type { Attempt } from "./attempt.ts";
export { MemsyncError, type MemsyncErrorCode } from "./memsync-error.ts";
export type { PageQuery } from "./pages.ts";
export type { Fetch, Signal } from "./platform.ts";
export type { CallOptions, Patience } from "./transport.ts";
export type { MemoryQuery, SessionQuery, V1Client } from "./v1-client.ts";
export type * from "./wire.ts";

/** Choices for `createClient`. */
export interface ClientOptions extends TransportOptions {
  /** The current project, where a call on memories names none. */
  readonly projectId?: string;
}

/** Calls of both variants of the interface. It holds no connection and needs no closing. */
export interface Client {
  /** Variant A: memories one by one, sessions. */
  readonly v1: V1Client;
  /** Variant B: projects, connections, statistics. */
  readonly api: ApiClient;
  /** Resolves when the service answers at all; needs no token. */
  health(options?: CallOptions): Promise<Health>;
}

/**
 * A client of a memsync service. Calls reject with a `MemsyncError`. After a 429 a call waits as
 * long as the service says. After a failure of the network or the service, a call is repeated where
 * that is safe: reads, exchanges, and writes, which carry an `Idempotency-Key`; not deletions.
 * Throws a TypeError for a malformed `url`, `token`, `projectId` or header.
 *
 * ```
 * const client = createClient({ url: "https://memory.example.com", token });
 * await client.v1.createMemory({ content: "Tabs, not spaces.", layer: "user" });
 * for await (const memory of client.v1.memories()) console.log(memory.content);
 * ```
 */
export function createClient(options: ClientOptions): Client {
  if (options.projectId !== undefined) checkHeader("X-Project-Id", options.projectId, "projectId");
  const calls = new Calls(new Transport(options, platformWorld));
  return {
    v1: new V1Client(calls, options.projectId),
    api: new ApiClient(calls),
    health: (callOptions) => calls.get("/healthz", callOptions),
  };
}
