// The published interface on this machine: the server's routes over the local replica.
// `daemon/daemon.ts` opens it.

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { AppError, messageOf } from "../../shared/errors.ts";
import { unforeseen } from "../../shared/sqlite/failures.ts";
import type { World } from "../../shared/world.ts";
import type { Home } from "../home/home.ts";
import { getRemote } from "../remotes/remote-view.ts";
import type { Control } from "./control.ts";
import { GatewayTokens, KEY_BYTES } from "./gateway-tokens.ts";
import {
  type App,
  bearerToken,
  type Caller,
  type Listener,
  listenBun,
  type MountOptions,
  mountRoutes,
} from "./mount.ts";
import type { Routes } from "./routed-services.ts";

const PRIVATE_FILE = 0o600;
/** On the socket no token is needed. A caller may ask for a single remote by its name. */
const REMOTE_SCHEME = /^Remote +(\S+)$/;

/** What a gateway serves, and for which home. */
export interface GatewayOptions extends Omit<MountOptions, "place"> {
  readonly home: Home;
  readonly routes: Routes;
  /** The daemon's own calls, which are served on the socket only. */
  readonly control: Control;
  /** The port to serve on; any free one when left out. */
  readonly port?: number | undefined;
}

/** An open gateway. While it is open, the home's gateway file holds its address and token. */
export interface Gateway {
  /** Address of the port on loopback. */
  readonly url: string;
  /** Valid for all remotes. */
  readonly token: string;
  /** The token for the remote of this name only. Throws where there is none. */
  tokenOf(remote: string): string;
  close(): Promise<void>;
}

/**
 * Serves both variants of the interface from the local replica: on the home's unix socket to
 * everybody who may open it, and on a loopback port to everybody with a token. On a free port the
 * tokens are new at each start. On a fixed port they stay, so that a program has to be set up only
 * once. Rejects with one sentence where the fixed port is in use.
 *
 * ```
 * const gateway = await openGateway(options);
 * await fetch(`${gateway.url}/v1/memories`, {
 *   headers: { authorization: `Bearer ${gateway.token}` },
 * });
 * ```
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { home, world, control, routes } = options;
  const key = options.port === undefined ? newKey(world) : keptKey(home, world);
  const tokens = new GatewayTokens(key);
  const byToken = (header: string | null) => callerByToken(tokens, routes, header);
  const mounted = { ...options, place: home.dir };
  const onPort = mountRoutes(mounted, byToken);
  const onSocket = mountRoutes(
    mounted,
    (header) => callerOnSocket(routes, header) ?? byToken(header),
  );
  rmSync(home.socket, { force: true });
  const socket = await listenBun(withControl(onSocket, control, home.dir), { unix: home.socket });
  let port: Listener | undefined;
  const close = async () => {
    rmSync(home.gateway, { force: true });
    await port?.close();
    await socket.close();
    rmSync(home.socket, { force: true });
  };
  try {
    port = await listenBun(onPort, { host: "127.0.0.1", port: options.port ?? 0 });
    const { url } = port;
    const token = tokens.forAll;
    writeNew(home.gateway, JSON.stringify({ url, token }));
    const tokenOf = (name: string) => tokens.of(getRemote(routes.remotes(), name).account);
    return { url, token, tokenOf, close };
  } catch (thrown) {
    await close();
    if (options.port === undefined) throw thrown;
    const said = `MEMSYNC_GATEWAY_PORT: ${messageOf(thrown)}`;
    const refused = new AppError("invalid_request", said);
    refused.cause = thrown instanceof Error ? thrown.cause : undefined;
    throw refused;
  }
}

function newKey(world: World): Uint8Array {
  return world.randomBytes(KEY_BYTES);
}

/** The home's own key, created once, in a file that only the owner can read. */
function keptKey({ gatewayKey: path }: Home, world: World): Uint8Array {
  if (!existsSync(path)) {
    const made = Buffer.from(newKey(world)).toString("base64url");
    writeNew(path, `${made}\n`);
  }
  const text = readFileSync(path, "utf8").trim();
  const key = Buffer.from(text, "base64url");
  if (key.length === KEY_BYTES && key.toString("base64url") === text) return key;
  throw new AppError("invalid_request", `${path} holds no key: delete it, and a new one is made`);
}

/**
 * Creates a file that only the owner can read, replacing whatever had the name. Follows no link.
 */
function writeNew(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: PRIVATE_FILE, flag: "wx" });
}

/** Adds the daemon's own calls below a path that the interface does not use. */
function withControl(app: App, control: Control, place: string): App {
  return {
    ...app,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (!pathname.startsWith("/_memsync/")) return await app.fetch(request);
      try {
        return await control(pathname.slice("/_memsync/".length), request);
      } catch (thrown) {
        return app.refuse(
          thrown instanceof AppError ? thrown : new AppError("internal", unforeseen(thrown, place)),
        );
      }
    },
  };
}

function callerByToken(
  tokens: GatewayTokens,
  routes: Routes,
  header: string | null,
): Caller | undefined {
  const token = bearerToken(header);
  if (token === undefined) return undefined;
  if (tokens.isForAll(token)) return routes.callerOfAll();
  const remote = tokens.remoteOf(token, routes.remotes());
  return remote && routes.callerOf(remote);
}

/**
 * Undefined where a token was sent: on the socket, too, a token for one remote reaches only that.
 */
function callerOnSocket(routes: Routes, header: string | null): Caller | undefined {
  if (header === null) return routes.callerOfAll();
  const name = REMOTE_SCHEME.exec(header)?.[1];
  const remote = routes.remotes().find((each) => each.name === name);
  return remote && routes.callerOf(remote);
}
