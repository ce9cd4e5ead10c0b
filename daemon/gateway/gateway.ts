import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { AppError, messageOf } from "../../shared/errors.ts";
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
/** Who may open the socket needs no token, and may ask for one remote by its name. */
const REMOTE_SCHEME = /^Remote +(\S+)$/;

/** What a gateway serves, and the home whose socket and gateway file it takes over. */
export interface GatewayOptions extends Omit<MountOptions, "place"> {
  readonly home: Home;
  readonly routes: Routes;
  /** The daemon's own calls; served on the socket alone. */
  readonly control: Control;
  /** The port to serve on; any free one when left out. */
  readonly port?: number | undefined;
}

/** An open gateway. The home's gateway file holds its address and token until it closes. */
export interface Gateway {
  /** Address of the port on loopback. */
  readonly url: string;
  /** Reaches every remote. */
  readonly token: string;
  /** The token that reaches the remote of this name alone. Throws where there is none. */
  tokenOf(remote: string): string;
  close(): Promise<void>;
}

/**
 * Serves both variants of the interface from the local replica: on the home's unix socket to
 * whoever may open it, and on a port of loopback to whoever has a token. On a free port the tokens
 * are new at each start; on a fixed one they stay, so that a program that was set up goes on
 * working. Rejects with one sentence where the fixed port is in use.
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
  const socket = await listenBun(withControl(onSocket, control), { unix: home.socket });
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
    throw new AppError("invalid_request", `MEMSYNC_GATEWAY_PORT: ${messageOf(thrown)}`);
  }
}

function newKey(world: World): Uint8Array {
  return world.randomBytes(KEY_BYTES);
}

/** The home's own key, made once, in a file that only its owner may read. */
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

/** A file that only its owner may read, whatever had its name: a link is not followed. */
function writeNew(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: PRIVATE_FILE, flag: "wx" });
}

/** Adds the daemon's own calls, below a path that the interface has not. */
function withControl(app: App, control: Control): App {
  return {
    ...app,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (!pathname.startsWith("/_memsync/")) return await app.fetch(request);
      try {
        return await control(pathname.slice("/_memsync/".length), request);
      } catch (thrown) {
        return app.refuse(
          thrown instanceof AppError ? thrown : new AppError("internal", messageOf(thrown)),
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

/** Undefined where a token is shown: one that reaches a single remote does so here, too. */
function callerOnSocket(routes: Routes, header: string | null): Caller | undefined {
  if (header === null) return routes.callerOfAll();
  const name = REMOTE_SCHEME.exec(header)?.[1];
  const remote = routes.remotes().find((each) => each.name === name);
  return remote && routes.callerOf(remote);
}
