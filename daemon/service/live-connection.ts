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

/** The service whose live socket to open; `url`: its base address, `http` or `https`. */
export interface LiveConnectionOptions {
  readonly url: string;
  readonly token: string;
  readonly world: World;
  readonly handlers: LiveHandlers;
}

/** Opens the service's live socket. Anything received that is no frame closes it again. */
export function openLiveConnection(options: LiveConnectionOptions): LiveConnection {
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
  const heard = () => {
    if (over) return;
    deadline.cancel();
    deadline = world.setTimer(SILENCE_MS_MAX, () => {
      isSilent = true;
      socket.ping();
      deadline = world.setTimer(SILENCE_MS_MAX, () => finish("nothing came for too long"));
      handlers.silent(true);
    });
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
    subscribe: (projects) => socket.send(encodeSubscribe(projects, { account: true })),
    close: () => finish("closed here"),
  };
}
