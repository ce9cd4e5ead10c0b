import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connectLive } from "../support/live-client.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { RUNTIMES, type RunningServer, ServerFolder } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";

const LIVE_SOCKETS = 12;
const CHUNKED = "Transfer-Encoding: chunked";

describe.each([...RUNTIMES])("on %s", (runtime) => {
  let folder: ServerFolder;
  let server: RunningServer;
  let token: string;
  let headers: Record<string, string>;

  beforeAll(async () => {
    folder = await ServerFolder.create(runtime);
    token = await folder.token();
    server = await folder.server("--live-sockets-per-account-max", `${LIVE_SOCKETS}`);
    headers = { Authorization: `Bearer ${token}` };
  });
  afterAll(async () => {
    await folder[Symbol.asyncDispose]();
  });

  const head = (line: string, ...more: readonly string[]) =>
    [line, "Host: localhost", `Authorization: Bearer ${token}`, ...more, "", ""].join("\r\n");

  async function raw(text: string): Promise<string> {
    using connection = await connectRaw(server.port);
    connection.write(text);
    await waitFor("the end of the answer", () => {
      return connection.closed() || /\r\n\r\n.*\}$/s.test(connection.received());
    });
    return connection.received();
  }

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]);
  }

  async function isWell(): Promise<void> {
    expect((await fetch(`${server.url}/v1/memories`, { headers })).status).toBe(200);
  }

  test("heads that never end are given up", async () => {
    const starts = ["GET", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", ""];
    const slow = await Promise.all(starts.map(() => connectRaw(server.port)));
    for (const [at, connection] of slow.entries()) connection.write(starts[at] ?? "");
    await waitFor("all of them to be closed", () => {
      // One byte now and again, as who wants to hold a server does.
      if (!slow[1]?.closed()) slow[1]?.write("a");
      return slow.every((connection) => connection.closed());
    });
    await isWell();
  });

  test.each([
    ["a head of 20 KB", () => head("GET /v1/memories HTTP/1.1", `X: ${"y".repeat(20_000)}`)],
    ["a path of 20 KB", () => head(`GET /v1/${"y".repeat(20_000)} HTTP/1.1`)],
    [
      "ten thousand headers",
      () => head("GET /healthz HTTP/1.1", ..."X: y ".repeat(9_999).split(" ")),
    ],
    [
      "two lengths",
      () => head("POST /v1/memories HTTP/1.1", "Content-Length: 2", "Content-Length: 5"),
    ],
    [
      "a length and chunks",
      () => `${head("POST /v1/memories HTTP/1.1", "Content-Length: 4", CHUNKED)}0\r\n\r\n`,
    ],
    ["a length below zero", () => head("POST /v1/memories HTTP/1.1", "Content-Length: -1")],
    ["a length that is no number", () => head("POST /v1/memories HTTP/1.1", "Content-Length: 1e9")],
    [
      "a chunk that is none",
      () => `${head("POST /v1/memories HTTP/1.1", CHUNKED)}zz\r\nhello\r\n0\r\n\r\n`,
    ],
    ["a header folded over lines", () => head("GET /v1/memories HTTP/1.1", "X: a", " b")],
    ["a NUL in a header", () => head("GET /v1/memories HTTP/1.1", "X: a\0b")],
  ])("%s is refused or answered, and harms nobody", async (_what, text) => {
    expect(await raw(text())).toMatch(/^(HTTP\/1\.1 (200|400|401|404|431) |$)/);
    await isWell();
  });

  test("the rest of a request that was refused is no request of its own", async () => {
    const smuggled = head("DELETE /v1/memories/mem_a HTTP/1.1");
    const text = head("POST /v1/memories HTTP/1.1", `Content-Length: ${smuggled.length}`, CHUNKED);
    const answer = await raw(`${text}0\r\n\r\n${smuggled}`);
    expect(answer.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
  });

  test("a body that came with an offer of another protocol is taken", async () => {
    const body = '{"content":"came with an offer","layer":"global","key":"h2c"}';
    const offer = ["Connection: Upgrade, close", "Upgrade: h2c", `Content-Length: ${body.length}`];
    const answer = await raw(`${head("POST /v1/memories HTTP/1.1", ...offer)}${body}`);
    expect(answer).toStartWith("HTTP/1.1 200 ");
    expect(answer).toContain("came with an offer");
  });

  test.each([
    "/v1/memories/..%2f..%2fhealthz",
    "/v1/projects/../../etc/passwd",
    "/v1/projects/..;/stats",
    "/v1/projects/__proto__",
    "/v1/projects/proj_%00",
    "/v1/sessions/constructor",
    "//v1/memories",
    "/v1/memories#/../x",
  ])("the path %j leads nowhere", async (path) => {
    expect(await raw(head(`GET ${path} HTTP/1.1`, "Connection: close"))).toMatch(
      /^HTTP\/1\.1 40[04] /,
    );
  });

  test("keys with a meaning in JavaScript pollute nothing", async () => {
    const post = (path: string, body: string) =>
      fetch(`${server.url}${path}`, { method: "POST", headers, body });
    const poison = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}';
    const put = await post("/api/projects", `${poison},"id":"proj_safe","name":"x"}`);
    expect(put.status).toBe(200);
    const metadata = '{"metadata":{"__proto__":{"polluted":1}}}';
    expect((await post("/api/projects/proj_safe/sync", metadata)).status).toBe(400);
    const memories =
      '{"memories":[{"key":"__proto__","value":"v"},{"key":"constructor","value":"w"}]}';
    expect((await post("/api/projects/proj_safe/sync", memories)).status).toBe(200);
    const read = await fetch(`${server.url}/api/projects/proj_safe`, { headers });
    const project = (await read.json()) as { memories: { key: string; value: string }[] };
    const kept = project.memories.map(({ key, value }) => [key, value]);
    expect(kept).toEqual([
      ["__proto__", "v"],
      ["constructor", "w"],
    ]);
    expect(JSON.stringify(project)).not.toContain("polluted");
  });

  test("a page of another site gets nothing, and no answer is a page", async () => {
    const evil = { ...headers, Origin: "https://evil.example" };
    const refused = await fetch(`${server.url}/v1/memories`, { headers: evil });
    expect(refused.status).toBe(403);
    const rebound = await raw(
      head("GET /healthz HTTP/1.1", "Connection: close").replace("localhost", "evil.example"),
    );
    expect(rebound).toStartWith("HTTP/1.1 403 ");
    for (const path of ["/healthz", "/readyz", "/metrics", "/v1/memories", "/nowhere"]) {
      const { headers: given } = await fetch(`${server.url}${path}`, { headers });
      expect(given.get("x-content-type-options")).toBe("nosniff");
      expect(given.get("content-security-policy")).toContain("default-src 'none'");
      expect(given.get("content-security-policy")).toContain("frame-ancestors 'none'");
    }
  });

  test("an account has so many live sockets and no more, and others have theirs", async () => {
    const crowd = await folder.token("crowd");
    const sockets = [];
    for (let at = 0; at < LIVE_SOCKETS; at++) sockets.push(await connectLive(server.url, crowd));
    const more = await raw(
      [
        "GET /api/live HTTP/1.1",
        "Host: localhost",
        `Authorization: Bearer ${crowd}`,
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "",
        "",
      ].join("\r\n"),
    );
    expect(more).toStartWith("HTTP/1.1 429 ");
    expect(more).toMatch(/\r\nretry-after: \d+\r\n/i);
    expect(more).toContain('"rate_limited"');
    using other = await connectLive(server.url, token);
    other.send('{"type":"subscribe","project_ids":[]}');
    expect(await other.next()).toMatchObject({ type: "subscribed" });
    for (const socket of sockets) socket[Symbol.dispose]();
    await waitFor(
      "their places to be free",
      async () => (await metric("memsync_live_sockets")) === 1,
    );
    (await connectLive(server.url, crowd))[Symbol.dispose]();
  });

  test("a live client that reads nothing is dropped, and others hear all", async () => {
    const account = await folder.token("slow");
    const mine = { Authorization: `Bearer ${account}` };
    using slow = await connectRaw(server.port);
    slow.write(
      head(
        "GET /api/live HTTP/1.1",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ).replace(token, account),
    );
    await slow.until(/101 Switching/);
    slow.pause();
    using reader = await connectLive(server.url, account);
    const before = await metric("memsync_live_sockets");
    let written = 0;
    // Every frame is some 20 KB; the system's own buffers take a few megabytes of them.
    while ((await metric("memsync_live_sockets")) === before && written < 3000) {
      const content = `${written++} `.padEnd(12_000, "x");
      const body = JSON.stringify({ content, layer: "global", key: "k" });
      const init = { method: "POST", headers: mine, body };
      expect((await fetch(`${server.url}/v1/memories`, init)).status).toBe(200);
      expect(await reader.next()).toMatchObject({ type: "changed", seq: written });
    }
    expect(await metric("memsync_live_sockets")).toBe(before - 1);
  });
});
