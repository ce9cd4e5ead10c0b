import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";

const HALF_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
const BODY_BYTES = 64 * 1024 * 1024;
const EXCHANGE_BYTES = 63 * 1024 * 1024;
const SYNC_MEMORIES = 10_000;
const SYNC_VALUE_BYTES = 950;

/**
 * What whole bodies are of: lists without content, which take most as values beside their bytes; a
 * sync of a whole document; the longest exchange; and what passes for small, of which many come.
 */
const WHOLE_BODIES = [
  `{"x":[${"[],".repeat(249_000)}[]]}`,
  syncOf(SYNC_MEMORIES),
  `{"crdt":{"encoding":"yjs-v1","documents":{"project":{"update":"${"AAEC".repeat(EXCHANGE_BYTES / 4)}"}}}}`,
  ...Array.from({ length: 7 }, () => syncOf(250)),
];
const WHOLE_SENDERS_MAX = 1000;
/** Not a divisor of the bodies' number: each account sends each of them. */
const WHOLE_ACCOUNTS = 7;
const SENDERS_MAX = 1000;
const READERS_MAX = 1000;
/** Between two that come: 500 of them have come after 5 seconds. */
const PACE_MS = 10;

// Some clients send a whole body, some half a body and no more until they are ended,
// and others fetch nothing of a long list but its beginning. Says so once all have come.
const [url = "", token = "", path = "", wholes = "1", senders = "1", readers = "1"] =
  process.argv.slice(2);
const { hostname, port, host } = new URL(url);

function syncOf(count: number): string {
  const value = "what a memory says ".repeat(SYNC_VALUE_BYTES / 19);
  return JSON.stringify({
    memories: Array.from({ length: count }, (_, at) => ({ key: `k${at}`, value })),
  });
}

function headOf(token: string, line: string, ...more: readonly string[]): string {
  return [line, `Host: ${host}`, `Authorization: Bearer ${token}`, ...more, "", ""].join("\r\n");
}

/** Sends `sent` of a body of `length` bytes, as fast as it is taken, and waits. */
async function sendBody(sent: Uint8Array, length: number, account = ""): Promise<void> {
  let at = 0;
  const push = (socket: { write(bytes: Uint8Array): number }) => {
    while (at < sent.length) {
      const written = socket.write(sent.subarray(at, at + PIECE_BYTES));
      if (written <= 0) return;
      at += written;
    }
  };
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(socket) {
        const line = `POST /api/projects/proj_hostile${account}/sync HTTP/1.1`;
        socket.write(headOf(token + account, line, `Content-Length: ${length}`));
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
        socket.write(headOf(token, `GET ${path} HTTP/1.1`));
        socket.pause();
      },
      data(socket) {
        socket.pause();
      },
      error() {},
    },
  });
}

const bodies = WHOLE_BODIES.map((body) => new TextEncoder().encode(body));
for (let at = 0; at < Math.min(Number(wholes), WHOLE_SENDERS_MAX); at++) {
  const whole = bodies[at % bodies.length] ?? new Uint8Array();
  await sendBody(whole, whole.length, `-${at % WHOLE_ACCOUNTS}`);
  await delay(realWorld, PACE_MS);
}
const half = new Uint8Array(HALF_BYTES).fill(0x20);
for (let at = 0; at < Math.min(Number(senders), SENDERS_MAX); at++) {
  await sendBody(half, BODY_BYTES);
  await delay(realWorld, PACE_MS);
}
for (let at = 0; at < Math.min(Number(readers), READERS_MAX); at++) {
  await readNothing();
  await delay(realWorld, PACE_MS);
}
process.stdout.write("all have come\n");
setInterval(() => {}, 1000);
