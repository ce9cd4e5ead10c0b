import { messageOf } from "../../shared/errors.ts";
import { encodeSubscribe, parseServerFrame } from "../../shared/wire/live.ts";
import type { World } from "../../shared/world.ts";
import type { LiveConnection, LiveHandlers } from "./service.ts";

/** A handshake that takes longer is given up. */
const HANDSHAKE_DEADLINE_MS = 15_000;
/**
 * A service pings every 30 seconds. After this time without anything from it, it counts as silent
 * and is pinged; after the same time again, as gone.
 */
const SILENCE_MS_MAX = 35_000;
/** A service that was asked for a sign counts as silent after this time without one. */
const SIGN_MS_MAX = 5000;

/** The service whose live socket to open; `url`: its base address, `http` or `https`. */
export interface LiveConnectionOptions {
  readonly url: string;
  readonly token: string;
  readonly world: World;
  readonly handlers: LiveHandlers;
}

/** A live socket that can be asked whether the service is still there. */
interface AskedConnection extends LiveConnection {
  /** It counts as silent soon, unless anything comes. */
  askForSign(): void;
}

/** Opens the service's live socket. Anything received that is no frame closes it again. */
export function openLiveConnection(options: LiveConnectionOptions): AskedConnection {
  const { handlers, token, world } = options;
  const url = `${options.url.replace(/^http/, "ws")}/api/live`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  let over = false;
  const finish = (message: string, code?: number) => {
    if (over) return;
    over = true;
    deadline.cancel();
    // A closing handshake would never end on a dead connection.
    if (isSilent) socket.terminate();
    else socket.close();
    handlers.closed(message, code);
  };
  let deadline = world.setTimer(HANDSHAKE_DEADLINE_MS, () => finish("no handshake in time"));
  let isSilent = false;
  let isAsked = false;
  const ping = () => {
    isAsked = true;
    socket.ping();
  };
  const silent = () => {
    isSilent = true;
    if (!isAsked) ping();
    deadline = world.setTimer(SILENCE_MS_MAX, () => finish("nothing came for too long"));
    handlers.silent(true);
  };
  const heard = () => {
    if (over) return;
    deadline.cancel();
    deadline = world.setTimer(SILENCE_MS_MAX, silent);
    isAsked = false;
    if (!isSilent) return;
    isSilent = false;
    handlers.silent(false);
  };
  for (const sign of ["ping", "pong"]) socket.addEventListener(sign, heard);
  socket.addEventListener("open", () => {
    heard();
    if (!over) handlers.opened();
  });
  socket.addEventListener("message", (event) => {
    heard();
    if (over) return;
    try {
      const frame = parseServerFrame(String(event.data));
      if (frame) handlers.frame(frame);
    } catch (thrown) {
      finish(`a frame that is none: ${messageOf(thrown)}`);
    }
  });
  socket.addEventListener("close", ({ code }) => finish(`closed with ${code}`, code));
  socket.addEventListener("error", () => finish("the connection failed"));
  return {
    askForSign: () => {
      if (over || isAsked || socket.readyState !== WebSocket.OPEN) return;
      ping();
      deadline.cancel();
      deadline = world.setTimer(SIGN_MS_MAX, silent);
    },
    subscribe: (projects) => socket.send(encodeSubscribe(projects, { account: true })),
    close: () => finish("closed here"),
  };
}
