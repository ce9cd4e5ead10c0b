import { timingSafeEqual } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { AppError, messageOf } from "../../shared/errors.ts";
import type { Home } from "../home.ts";
import type { Control } from "./control.ts";
import { type App, type Listener, listenBun, type MountOptions, mountRoutes } from "./mount.ts";

const TOKEN_BYTES = 24;
const PRIVATE_FILE = 0o600;

/** What a gateway serves, and the home whose socket and gateway file it takes over. */
export interface GatewayOptions extends MountOptions {
  readonly home: Home;
  /** The daemon's own calls; served on the socket alone. */
  readonly control: Control;
}

/** An open gateway. The home's gateway file holds its address and token until it closes. */
export interface Gateway {
  /** Address of the port on loopback. */
  readonly url: string;
  readonly token: string;
  close(): Promise<void>;
}

/**
 * Serves both variants of the interface from the local replica: on the home's unix socket to
 * whoever may open it, and on a free port of loopback to whoever has the token, which is new at
 * each start.
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { home, world, control } = options;
  const token = `mst_local_${Buffer.from(world.randomBytes(TOKEN_BYTES)).toString("base64url")}`;
  const onPort = mountRoutes(options, (given) => isToken(given, token));
  const onSocket = mountRoutes(options, () => true);
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
    port = await listenBun(onPort, { host: "127.0.0.1", port: 0 });
    const { url } = port;
    writeFileSync(home.gateway, JSON.stringify({ url, token }), { mode: PRIVATE_FILE });
    return { url, token, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
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

function isToken(given: string | undefined, token: string): boolean {
  const one = Buffer.from(given ?? "");
  const other = Buffer.from(token);
  return one.length === other.length && timingSafeEqual(one, other);
}
