import { expect, test } from "bun:test";
import { JsonScan } from "../../server/http/json-scan.ts";
import { LIMITS } from "../../shared/limits.ts";
import { errorOf, startServer, type TestServer, undeclared } from "../support/http-server.ts";
import { connectRaw } from "../support/raw-connection.ts";

const SYNC = "/api/projects/proj_a/sync";

/** `bytes` bytes of JSON that nobody looks into. */
function padded(bytes: number, start = '{"padding":"'): string {
  return `${start}${"x".repeat(bytes - start.length - 2)}"}`;
}

const EXCHANGE = '{"crdt":{"encoding":"yjs-v1","documents":{}},"padding":"';

async function statusOf(server: TestServer, body: string | Uint8Array<ArrayBuffer>) {
  return (await server.send("POST", SYNC, { body })).status;
}

test("a body is JSON whatever its Content-Type", async () => {
  await using server = await startServer();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const headers = { "Content-Type": type };
    const response = await server.send("POST", SYNC, { body: '{"memories":[]}', headers });
    expect(response.status).toBe(200);
  }
});

test.each(["", " ", "{", "nope", "{'a': 1}", '{"a": 1}}', "\u0000", "NaN"])(
  "the body %j is not JSON",
  async (body) => {
    await using server = await startServer();
    expect(await statusOf(server, body)).toBe(400);
  },
);

test("a body in ill-formed UTF-8 is refused", async () => {
  await using server = await startServer();
  expect(await statusOf(server, new Uint8Array([0x22, 0xff, 0x22]))).toBe(400);
  const surrogate = new TextEncoder().encode('{"claude_md_content":"___"}');
  surrogate.set([0xed, 0xa0, 0x80], surrogate.indexOf(0x5f, 20));
  expect(await statusOf(server, surrogate)).toBe(400);
});

test("a refusal never repeats what was sent", async () => {
  await using server = await startServer();
  const response = await server.send("POST", SYNC, { body: '{"memories": hunter2}' });
  expect(JSON.stringify(await errorOf(response))).not.toContain("hunter2");
});

test("a plain body has at most 16 MiB, with or without a declared length", async () => {
  await using server = await startServer();
  const fits = padded(LIMITS.bodyBytes);
  const over = padded(LIMITS.bodyBytes + 1);
  expect(await statusOf(server, fits)).toBe(200);
  expect(await statusOf(server, over)).toBe(400);
  for (const [text, status] of [
    [fits, 200],
    [over, 400],
  ] as const) {
    const response = await server.send("POST", SYNC, { body: undeclared(text) });
    expect(response.status).toBe(status);
  }
  const memory = await server.send("POST", "/v1/memories", { body: undeclared(over) });
  expect(memory.status).toBe(400);
});

test("a replica exchange has at most 64 MiB", async () => {
  await using server = await startServer();
  expect(await statusOf(server, padded(LIMITS.bodyBytes + 1, EXCHANGE))).toBe(200);
  expect(await statusOf(server, padded(LIMITS.exchangeBodyBytes, EXCHANGE))).toBe(200);
  expect(await statusOf(server, padded(LIMITS.exchangeBodyBytes + 1, EXCHANGE))).toBe(400);
  expect((await server.send("GET", "/healthz")).status).toBe(200);
});

test("a body nested without end is refused", async () => {
  await using server = await startServer();
  const deep = "[".repeat(5_000_000);
  for (const body of [deep, `${deep}${"]".repeat(5_000_000)}`, `{"x":${'{"a":'.repeat(1000)}`]) {
    expect(await statusOf(server, body)).toBe(400);
  }
});

function intricate(text: string, partsAtOnceMax?: number): boolean {
  const scan = new JsonScan(
    new TextEncoder().encode(text),
    partsAtOnceMax === undefined ? {} : { partsAtOnceMax },
  );
  while (!scan.isDone) scan.advance(100_000);
  return scan.isTooIntricate;
}

test("JSON is judged by its nesting and parts outside of strings", () => {
  expect(intricate("[".repeat(128))).toBe(false);
  expect(intricate("[".repeat(129))).toBe(true);
  expect(intricate(`"${"[".repeat(500)}"`)).toBe(false);
  expect(intricate(`["\\"${"[".repeat(500)}"]`)).toBe(false);
  expect(intricate(`["\\\\"${",[".repeat(500)}`)).toBe(true);
  expect(intricate(`"${"[".repeat(500)}`)).toBe(false);
  expect(intricate("[]".repeat(500))).toBe(false);
  expect(intricate(`[${"0,".repeat(500_001)}`)).toBe(true);
  expect(intricate(`{"a":[${"0,".repeat(499_000)}0]}`)).toBe(false);
  expect(intricate(`{"a":[${"0,".repeat(500_001)}0]}`)).toBe(true);
});

test("JSON whose parts would have to be parsed at once has few of them", () => {
  const items = "[],".repeat(40_000);
  expect(intricate(`{"memories":[[${items}0]]}`)).toBe(true);
  expect(intricate(`{"memories":[[${items}0]]}`, Number.POSITIVE_INFINITY)).toBe(false);
  expect(intricate(`{"metadata":{"a":[${items}0]}}`)).toBe(true);
  expect(intricate(`{"a":[[${"0,".repeat(60_000)}0],[${"0,".repeat(60_000)}0]],"b":[0,0]}`)).toBe(
    false,
  );
  // Wherever in the body it begins.
  expect(intricate(`{"a":[${" ".repeat(99_000)}[${"0,".repeat(70_000)}0],[0]]}`)).toBe(true);
  const fields = (count: number) =>
    `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join(",")}}`;
  expect(intricate(`{"metadata":${fields(16_384)}}`)).toBe(false);
  expect(intricate(`{"metadata":${fields(16_385)}}`)).toBe(true);
  expect(intricate(`[${fields(16_385)}]`)).toBe(true);
  // As much as metadata of the permitted size may have.
  const fullest = `{"metadata":{"a":[${"[],".repeat(21_840)}0]}}`;
  expect(fullest.length).toBeGreaterThan(LIMITS.metadataBytes);
  expect(intricate(fullest)).toBe(false);
});

test("a body in an encoding that is not understood is told so", async () => {
  await using server = await startServer();
  for (const encoding of ["br", "deflate", "gzip, gzip"]) {
    const headers = { "Content-Encoding": encoding };
    const answer = await server.send("POST", SYNC, { body: "{}", headers });
    expect([answer.status, (await errorOf(answer)).message]).toEqual([
      400,
      expect.stringContaining("Content-Encoding is not understood"),
    ]);
  }
  const headers = { "Content-Encoding": "identity" };
  expect((await server.send("POST", SYNC, { body: "{}", headers })).status).toBe(200);
});

test("a body whose length is given twice is told so", async () => {
  await using server = await startServer();
  using raw = await connectRaw(server.listener.port ?? 0);
  const lines = [`POST ${SYNC} HTTP/1.1`, "Host: localhost", "Authorization: Bearer write"];
  const lengths = ["Content-Length: 2", "Content-Length: 2", "", "{}"];
  raw.write([...lines, ...lengths].join("\r\n"));
  const answer = await raw.until(/"request_id"/);
  expect(answer).toStartWith("HTTP/1.1 400");
  expect(answer).toContain("Content-Length is not one number");
});

test("a client that leaves in the middle of its body harms nobody", async () => {
  await using server = await startServer();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: server.listener.port ?? 0,
    socket: { data() {} },
  });
  const head = "Host: localhost\r\nAuthorization: Bearer write\r\nContent-Length: 1000";
  socket.write(`POST ${SYNC} HTTP/1.1\r\n${head}\r\n\r\n{"memories"`);
  socket.flush();
  socket.terminate();
  expect((await server.send("GET", "/v1/memories")).status).toBe(200);
  expect(server.errors).toEqual([]);
});
