import { ok } from "node:assert/strict";
import { pick } from "../../support/random.ts";
import { connectRaw, type RawConnection } from "../../support/raw-connection.ts";
import { below, mutateBytes, mutateJson } from "./mutate.ts";
import { OWN_PROJECT, TARGET } from "./requests.ts";
import { SECRET, type Victim } from "./victim.ts";

type Random = () => number;

const MASKED = 0x80;
const OVERSIZED = 17 * 1024 * 1024;

/** Raw connections: bodies that never end or are too large, and frames. Resolves to how many. */
export async function attackSockets(victim: Victim, random: Random): Promise<number> {
  const slow = await Promise.all([connectRaw(victim.server.port), connectRaw(victim.server.port)]);
  for (const connection of slow) connection.write(unfinished(victim, random));
  await oversized(victim);
  const frames = 1 + below(random, 6);
  for (let at = 0; at < frames; at++) await attackLive(victim, random);
  const { status } = await fetch(`${victim.server.url}/healthz`);
  ok(status === 200, "the server answers meanwhile");
  for (const connection of slow) connection[Symbol.dispose]();
  return slow.length + 1 + frames;
}

function authorization(victim: Victim): string {
  return `Authorization: ${victim.attacker.authorization}`;
}

function unfinished(victim: Victim, random: Random): string {
  const length = pick(random, ["Content-Length: 1000", "Transfer-Encoding: chunked"]);
  const head = ["POST /v1/memories HTTP/1.1", "Host: localhost", authorization(victim)];
  const chunk = length.startsWith("T") ? "5\r\n{" : '{"content":';
  return [...head, length, "", chunk].join("\r\n");
}

async function oversized(victim: Victim): Promise<void> {
  const { authorization: header } = victim.attacker;
  const response = await fetch(`${victim.server.url}/v1/memories`, {
    method: "POST",
    headers: { Authorization: header },
    body: `{"content":"${"x".repeat(OVERSIZED)}"}`,
  });
  ok(response.status === 400, `a body of 17 MB is answered ${response.status}`);
}

async function attackLive(victim: Victim, random: Random): Promise<void> {
  using connection = await connectRaw(victim.server.port);
  connection.write(handshake(authorization(victim)));
  await ended(connection, /\r\n\r\n/);
  if (!connection.received().startsWith("HTTP/1.1 101")) return;
  const subscribe = { type: "subscribe", project_ids: [OWN_PROJECT, TARGET] };
  const text = random() < 0.3 ? JSON.stringify(subscribe) : mutateJson(random, subscribe);
  const sound = frame(random, Buffer.from(text));
  connection.write(random() < 0.5 ? sound : mutateBytes(random, sound, sound));
  connection.write(CLOSE);
  ok(!connection.received().includes(SECRET), "another account's byte in a frame");
}

async function ended(connection: RawConnection, pattern: RegExp): Promise<void> {
  await connection.until(pattern).catch((thrown) => {
    if (!connection.closed()) throw thrown;
  });
}

function handshake(header: string): string {
  const lines = [
    "GET /api/live HTTP/1.1",
    "Host: localhost",
    header,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  return [...lines, "", ""].join("\r\n");
}

const CLOSE = Uint8Array.of(0x88, MASKED, 0, 0, 0, 0);

/** A masked frame (RFC 6455, section 5.2) with any opcode. */
function frame(random: Random, payload: Uint8Array): Uint8Array {
  const opcode = random() < 0.7 ? 1 : below(random, 16);
  const size = payload.length;
  const length = size < 126 ? [size] : size < 65_536 ? [126, size >> 8, size & 0xff] : [127];
  const [first = 0, ...rest] = length;
  return Uint8Array.from([MASKED | opcode, MASKED | first, ...rest, 0, 0, 0, 0, ...payload]);
}
