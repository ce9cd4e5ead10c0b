import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HEADERS_TIMEOUT_S } from "../../server/listen/listener.ts";
import { LIMITS } from "../../shared/limits.ts";
import { MEMORY, PROJECT } from "../support/fake-services.ts";
import { errorOf, sendRaw } from "../support/http-server.ts";
import { connectLive } from "../support/live-client.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

const ROOT = join(import.meta.dir, "..", "..");

const folder = mkdtempSync(join(tmpdir(), "memsync-node-"));
const program = join(folder, "node-server.mjs");
let server: Awaited<ReturnType<typeof startNode>>;

/** The HTTP layer in a process of Node. */
async function startNode(...args: readonly string[]) {
  const child = Bun.spawn(["node", program, ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  return { child, url, port: Number(new URL(url || "http://failed").port) };
}

function send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: "Bearer write", ...(init.headers as Record<string, string>) };
  return fetch(`${server.url}${path}`, { ...init, method, headers });
}

beforeAll(async () => {
  const build = await Bun.build({
    entrypoints: [join(import.meta.dir, "../support/node-server.ts")],
    target: "node",
    format: "esm",
    outdir: folder,
    naming: "[name].mjs",
    external: ["bun"],
  });
  if (!build.success) throw new AggregateError(build.logs, "the bundle failed");
  server = await startNode();
});

afterAll(async () => {
  server.child.stdin.end();
  expect(await server.child.exited).toBe(0);
  rmSync(folder, { recursive: true });
});

test("under Node a long answer goes by pieces, and one that nobody fetches gives way", async () => {
  using stuck = await connectRaw(server.port);
  stuck.write(
    "GET /v1/memories?q=long HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n\r\n",
  );
  await stuck.until(/200 OK/);
  stuck.pause();
  const response = await send("GET", "/v1/memories?q=long");
  const text = await response.text();
  expect(response.headers.get("content-length")).toBe(String(text.length));
  expect(text).toContain("x".repeat(24 * 1024 * 1024));
  expect((await send("GET", "/v1/memories")).status).toBe(200);
});

test("Node tells where a guessed token came from", async () => {
  const headers = { Authorization: "Bearer guess", "X-Forwarded-For": "198.51.100.7" };
  expect((await send("GET", "/v1/memories", { headers })).status).toBe(401);
  const { value } = await server.child.stderr.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("a guess from 127.0.0.1\n");
});

test("Node answers a GET, a HEAD and a 304", async () => {
  const get = await send("GET", "/v1/memories?limit=5");
  expect(get.status).toBe(200);
  expect(await get.json()).toEqual({ memories: [MEMORY], total: 1, next_cursor: null });
  const head = await send("HEAD", "/v1/memories");
  expect(head.headers.get("content-length")).toBe(get.headers.get("content-length") ?? "");
  const held = { headers: { "If-None-Match": get.headers.get("etag") ?? "" } };
  expect((await send("GET", "/v1/memories", held)).status).toBe(304);
});

test("Node reads bodies, and refuses what is over the limit", async () => {
  const path = "/api/projects/proj_a/sync";
  const padded = (bytes: number) => `{"padding":"${"x".repeat(bytes - 14)}"}`;
  expect((await send("POST", path, { body: "{}" })).status).toBe(200);
  expect((await send("POST", path, { body: padded(LIMITS.bodyBytes) })).status).toBe(200);
  const over = await send("POST", path, { body: padded(LIMITS.bodyBytes + 1) });
  expect(over.status).toBe(400);
  const stream = new Response(padded(LIMITS.exchangeBodyBytes + 1)).body;
  expect((await send("POST", path, { body: stream })).status).toBe(400);
  expect((await send("POST", path, { body: "[".repeat(5_000_000) })).status).toBe(400);
});

test("Node refuses as Bun does", async () => {
  const unauthorized = await send("POST", "/v1/memories", {
    headers: { Authorization: "Bearer nobody" },
    body: "x".repeat(1_000_000),
  });
  expect(unauthorized.status).toBe(401);
  expect((await errorOf(unauthorized)).code).toBe("unauthorized");
  expect((await send("GET", "/nowhere")).status).toBe(404);
  expect((await send("OPTIONS", "/v1/memories")).status).toBe(404);
  expect((await send("GET", "/v1/memories", { headers: { Host: "evil.example" } })).status).toBe(
    403,
  );
});

test.each([
  ["NONSENSE\r\n\r\n", 400],
  ["TRACE /v1/memories HTTP/1.1\r\nHost: localhost\r\n\r\n", 401],
  ["GET //v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n\r\n", 404],
  [
    "GET /v1/../v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n\r\n",
    404,
  ],
  ["GET * HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n\r\n", 404],
  [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"y".repeat(100_000)}\r\n\r\n`, 400],
])("Node answers %j with %d", async (text, status) => {
  const answer = await sendRaw(
    server.port,
    text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
  );
  expect(answer).toStartWith(`HTTP/1.1 ${status} `);
  expect(answer).toContain('"request_id":"req_');
});

test.each(["", "Host: \r\n"])("Node answers a request with %j for its host", async (host) => {
  for (const path of ["/healthz", "/readyz", "/openapi.json"]) {
    const answer = await sendRaw(server.port, `GET ${path} HTTP/1.0\r\n${host}\r\n`);
    expect(answer).toStartWith("HTTP/1.1 200 ");
  }
});

test("Node serves what offers another protocol, too", async () => {
  const text = (method: string, body: string) =>
    `${method} /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n` +
    `Connection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  expect(await sendRaw(server.port, text("GET", ""))).toStartWith("HTTP/1.1 200 ");
  const posted = await sendRaw(server.port, text("POST", '{"content":"x"}'));
  expect(posted).toStartWith("HTTP/1.1 200 ");
  expect(posted).toContain('"mem_one"');
});

test("Node tells of commits over a live socket", async () => {
  using client = await connectLive(server.url, "write");
  client.send(JSON.stringify({ type: "subscribe", project_ids: [PROJECT] }));
  expect(await client.next()).toMatchObject({ type: "subscribed" });
  await send("POST", `/v1/projects/${PROJECT}/sync`);
  expect(await client.next()).toMatchObject({ type: "changed", seq: 8, update: "AQ==" });
  client.send("nonsense");
  expect((await client.closed).code).toBe(1008);
});

test("Node refuses handshakes with an error body", async () => {
  const handshake = (path: string, token: string, key: string) =>
    sendRaw(
      server.port,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
        `Sec-WebSocket-Key: ${key}\r\n\r\n`,
    );
  const key = "dGhlIHNhbXBsZSBub25jZQ==";
  for (const [path, token, given, status] of [
    ["/api/live", "nobody", key, 401],
    ["/v1/live", "write", key, 404],
    ["/api/live", "write", "short", 400],
  ] as const) {
    const answer = await handshake(path, token, given);
    expect(answer).toStartWith(`HTTP/1.1 ${status} `);
    expect(answer).toContain('"request_id":"req_');
    expect(answer.match(/^content-length:/gim)).toHaveLength(1);
  }
});

test("a strict client reads why Node refused its handshake", async () => {
  const program = `
    const { WebSocket } = require("ws");
    const socket = new WebSocket(process.argv[1] + "/api/live", {
      headers: { Authorization: "Bearer nobody" },
    });
    socket.on("unexpected-response", (_request, answer) => {
      console.log(answer.statusCode);
      process.exit();
    });
    socket.on("error", (error) => console.log(error.message));`;
  const child = Bun.spawn(["node", "-e", program, server.url], { cwd: ROOT, stdout: "pipe" });
  expect(await new Response(child.stdout).text()).toBe("401\n");
});

test("Node answers what expects something that nobody knows", async () => {
  const answer = await sendRaw(
    server.port,
    "GET /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n" +
      "Connection: close\r\nExpect: zzz\r\n\r\n",
  );
  expect(answer).toStartWith("HTTP/1.1 200 ");
});

test("Node hangs up on a client that sends no request and never hangs up", async () => {
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  for (const event of ["error", "close"] as const) socket.on(event, () => resolve());
  socket.write("nonsense\r\n\r\n");
  const isClosed = closed.then(() => true);
  await waitFor("the server to hang up", async () => {
    socket.write("more");
    const nextTurn = new Promise<false>((done) => setImmediate(() => done(false)));
    return await Promise.race([isClosed, nextTurn]);
  });
  socket.destroy();
  expect(received).toStartWith("HTTP/1.1 400 ");
});

test("a client that leaves in the middle of its body harms nobody on Node", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: server.port,
    socket: { data() {}, close: () => resolve() },
  });
  const head = "Host: localhost\r\nAuthorization: Bearer write\r\nContent-Length: 1000";
  socket.write(`POST /v1/memories HTTP/1.1\r\n${head}\r\n\r\n{"content"`);
  socket.flush();
  socket.terminate();
  await closed;
  expect((await send("GET", "/v1/memories")).status).toBe(200);
});

test("a port in use is one clear sentence on Node", async () => {
  const { child } = await startNode("127.0.0.1", String(server.port));
  expect(await child.exited).toBe(1);
  const said = await new Response(child.stderr).text();
  expect(said).toStartWith(`port ${server.port} on 127.0.0.1 is in use`);
});

test("a unix socket on Node is its owner's alone, and gone when closed", async () => {
  const unix = join(folder, "memsync.sock");
  const { child, url } = await startNode("", "0", unix);
  expect(statSync(unix).mode & 0o777).toBe(0o600);
  expect((await fetch(`${url}/healthz`, { unix })).status).toBe(200);
  child.stdin.end();
  expect(await child.exited).toBe(0);
  expect(() => statSync(unix)).toThrow("ENOENT");
});

test("Node drains: who is connected or connects is answered and told to leave", async () => {
  const { child, url, port } = await startNode();
  using raw = await connectRaw(port);
  const request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  raw.write(request);
  expect(await raw.until(/"ok"\}$/)).not.toMatch(/^connection: close/im);
  child.stdin.write("drain");
  await waitFor("who connects to be told to leave", async () => {
    const { status, headers } = await fetch(`${url}/healthz`);
    return status === 200 && headers.get("connection") === "close";
  });
  raw.write(request);
  expect(await raw.until(/"ok"\}[\s\S]*"ok"\}$/)).toMatch(/^connection: close/im);
  child.stdin.end();
  expect(await child.exited).toBe(0);
});

test("Node does not wait for a connection that was opened ahead and has asked nothing", async () => {
  const { child, port } = await startNode();
  using ahead = await connectRaw(port);
  using asked = await connectRaw(port);
  asked.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await asked.until(/"ok"\}$/);
  child.stdin.end();
  // Node itself would hang up when the time for a head is over.
  const soonerMs = (HEADERS_TIMEOUT_S * 1000) / 2;
  await waitFor("the connection to be closed", () => ahead.closed(), soonerMs);
  expect(await child.exited).toBe(0);
});

test("Node closes live sockets with 1001 when it stops", async () => {
  const { child, url } = await startNode();
  using client = await connectLive(url, "write");
  child.stdin.end();
  expect((await client.closed).code).toBe(1001);
  expect(await child.exited).toBe(0);
});
