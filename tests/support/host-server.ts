import { HostAdmin, type TokenRequest } from "../../server/accounts/host-admin.ts";
import { createHostApp, type HostApp } from "../../server/host-app.ts";
import { listen } from "../../server/listen/listen.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { newHostAddress } from "./host-address.ts";

/** What a request is answered, its body read. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A hosted server in this process, on a port, whose requests are two seconds apart. */
export interface HostServer extends AsyncDisposable {
  readonly url: string;
  readonly routes: HostApp["app"]["routes"];
  readonly admin: HostAdmin;
  token(request: Partial<TokenRequest>): Promise<{ readonly id: string; readonly token: string }>;
  /** `authorization` is the whole header; "" sends none. */
  send(
    authorization: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answered>;
  now(): number;
}

const START_MS = Date.UTC(2026, 0, 1, 12);

/** Fewer than any plan allows. */
const BETWEEN_REQUESTS_MS = 2000;

export async function startHost(): Promise<HostServer> {
  let now = START_MS;
  const world = { ...realWorld, now: () => now };
  const host = await createHostApp({
    path: await newHostAddress(),
    clock: "world",
    world,
    log: silentLog,
    loopbackOnly: true,
  });
  // Refusals do not wait here.
  host.hurry();
  const admin = new HostAdmin(host.database, world);
  const listener = await listen(host.app, { host: "127.0.0.1", port: 0 });
  const defaults = { user: "ann", name: "test", scope: "write", projects: null, expiresAt: null };
  return {
    url: listener.url,
    routes: host.app.routes,
    admin,
    token: (request) => admin.createToken({ ...defaults, ...request } as TokenRequest),
    async send(authorization, method, path, body, headers) {
      now += BETWEEN_REQUESTS_MS;
      const response = await fetch(`${listener.url}${path}`, {
        method,
        headers: { ...(authorization !== "" && { Authorization: authorization }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    now: () => now,
    async [Symbol.asyncDispose]() {
      await listener.close();
      await host.close();
    },
  };
}
