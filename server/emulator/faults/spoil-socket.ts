import type { LiveHandshake } from "../../app/shake-hands.ts";
import type { FaultEffect } from "../interface/faults.ts";

type Accepted = LiveHandshake & { readonly accepted: true };

/** Begins like a frame, and is no JSON. */
const MALFORMED = '{"type":"changed","project_id":"proj_';

/**
 * The same handshake, whose socket comes to grief: it is cut without a closing frame, with
 * `disconnect: "after"` as soon as it is open, and else after the server's first frame, which is
 * shortened or no JSON. `flushed` waits until what was sent has left.
 */
export function spoilSocket(
  handshake: Accepted,
  effect: FaultEffect,
  flushed: () => Promise<void>,
): Accepted {
  const { disconnect, truncate, malformed } = effect;
  const isAtOnce = disconnect === "after";
  if (!isAtOnce && truncate === undefined && !malformed) return handshake;
  return {
    ...handshake,
    open(socket) {
      let isCut = false;
      let isGone = false;
      const cut = async () => {
        isCut = true;
        await flushed();
        if (!isGone) socket.terminate();
      };
      const session = handshake.open({
        ...socket,
        send(frame) {
          if (isCut) return;
          socket.send(truncate === undefined ? MALFORMED : shortened(frame, truncate));
          void cut();
        },
        close(code, reason) {
          if (!isCut) socket.close(code, reason);
        },
      });
      if (isAtOnce) void cut();
      return {
        pong: () => session.pong(),
        receive: (frame) => session.receive(frame),
        receiveBinary: () => session.receiveBinary(),
        closed(code, reason) {
          isGone = true;
          session.closed(code, reason);
        },
      };
    },
  };
}

function shortened(frame: string, truncate: number | true): string {
  const bytes = Buffer.from(frame);
  return bytes.toString("utf8", 0, sentOf(bytes.length, truncate));
}

/**
 * Always less than the whole: with all of it the client under test would see nothing wrong. At
 * least one byte, without which Bun does not send the end of the head.
 */
export function sentOf(bytes: number, truncate: number | true): number {
  const asked = truncate === true ? bytes >> 1 : Math.floor(truncate);
  return Math.max(0, Math.min(Math.max(1, asked), bytes - 1));
}
