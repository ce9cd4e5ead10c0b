import type { World } from "../../../shared/world.ts";
import type { LiveHandshake } from "../../app/shake-hands.ts";
import type { LiveSession, LiveSocket } from "../../live/live-session.ts";
import type { Journal, RequestEntry, SocketClosed, SocketEntry } from "./journal.ts";

/** The beginning of a frame that is kept, in characters. */
const FRAME_LENGTH_KEPT = 4096;

/** The socket's end was not told, as when its network was gone. RFC 6455, section 7.1.5. */
const ABNORMAL = 1006;

type Accepted = LiveHandshake & { readonly accepted: true };

interface Recorder {
  readonly entry: RequestEntry;
  readonly journal: Journal;
  /** By the emulator's clock. */
  readonly world: Pick<World, "now">;
}

/** A socket that was never opened, because its client left before. */
export function goneSocket(at: number): SocketEntry {
  const reason = "the client left before it was answered";
  const closed: SocketClosed = { code: ABNORMAL, reason, by: "client", at };
  return { frames: [], framesDropped: 0, closed };
}

/** The same handshake, of which the journal has each frame and the end. Pings are no frames. */
export function recordSocket(handshake: Accepted, { entry, journal, world }: Recorder): Accepted {
  const recorded: SocketEntry = { frames: [], framesDropped: 0, closed: undefined };
  entry.socket = recorded;
  const keep = (from: "client" | "server", text: string | undefined) => {
    // What comes after the end is nobody's.
    if (recorded.closed) return;
    journal.keepFrame(entry, {
      ...{ from, at: world.now(), type: text === undefined ? undefined : typeIn(text) },
      text: text?.slice(0, FRAME_LENGTH_KEPT),
      bytes: text === undefined ? 0 : Buffer.byteLength(text),
    });
  };
  const end = (closed: Omit<SocketClosed, "at">) => {
    if (recorded.closed) return;
    recorded.closed = { ...closed, at: world.now() };
    journal.changed(entry);
  };
  const open = (socket: LiveSocket): LiveSession => {
    const session = handshake.open({
      ...socket,
      send(frame) {
        keep("server", frame);
        socket.send(frame);
      },
      close(code, reason) {
        end({ code, reason, by: "server" });
        socket.close(code, reason);
      },
      terminate() {
        end({ code: ABNORMAL, reason: "was cut without a closing frame", by: "server" });
        socket.terminate();
      },
    });
    return {
      pong: () => session.pong(),
      receive(frame) {
        keep("client", frame);
        session.receive(frame);
      },
      receiveBinary() {
        keep("client", undefined);
        session.receiveBinary();
      },
      closed(code = ABNORMAL, reason = "") {
        end({ code, reason, by: "client" });
        session.closed(code, reason);
      },
    };
  };
  return { ...handshake, open };
}

function typeIn(text: string): string | undefined {
  try {
    const frame: unknown = JSON.parse(text);
    const type = typeof frame === "object" && frame !== null && "type" in frame && frame.type;
    return typeof type === "string" ? type : undefined;
  } catch {
    return undefined;
  }
}
