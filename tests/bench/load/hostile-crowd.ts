import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";

const HALF_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
const BODY_BYTES = 64 * 1024 * 1024;
const SENDERS_MAX = 1000;
const READERS_MAX = 1000;
/** Between two that come: 500 of them have come after 5 seconds. */
const PACE_MS = 10;

// Clients that never finish, until they are ended: some send half a body, others fetch nothing of
// a long list but its beginning. Says so once all have come.
const [url = "", token = "", path = "", senders = "1", readers = "1"] = process.argv.slice(2);
const { hostname, port, host } = new URL(url);

function headOf(line: string, ...more: readonly string[]): string {
  return [line, `Host: ${host}`, `Authorization: Bearer ${token}`, ...more, "", ""].join("\r\n");
}

/** Sends half of a body, as fast as it is taken, and waits. */
async function sendHalf(): Promise<void> {
  const piece = new Uint8Array(PIECE_BYTES).fill(0x20);
  let unsent = HALF_BYTES;
  const push = (socket: { write(bytes: Uint8Array): number }) => {
    while (unsent > 0) {
      const written = socket.write(piece.subarray(0, Math.min(unsent, piece.length)));
      if (written <= 0) return;
      unsent -= written;
    }
  };
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(socket) {
        const line = "POST /api/projects/proj_hostile/sync HTTP/1.1";
        socket.write(headOf(line, `Content-Length: ${BODY_BYTES}`));
        push(socket);
      },
      drain: push,
      data() {},
      // A refusal is what it is to get.
      error() {},
    },
  });
}

/** Asks for a long list, and reads nothing after its beginning. */
async function readNothing(): Promise<void> {
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(socket) {
        socket.write(headOf(`GET ${path} HTTP/1.1`));
        socket.pause();
      },
      data(socket) {
        socket.pause();
      },
      error() {},
    },
  });
}

for (let at = 0; at < Math.min(Number(senders), SENDERS_MAX); at++) {
  await sendHalf();
  await delay(realWorld, PACE_MS);
}
for (let at = 0; at < Math.min(Number(readers), READERS_MAX); at++) {
  await readNothing();
  await delay(realWorld, PACE_MS);
}
process.stdout.write("all have come\n");
setInterval(() => {}, 1000);
