import { expect, test } from "bun:test";
import type { RequestEntry } from "../../server/emulator/journal/journal.ts";
import { RetryWaits } from "../../server/emulator/journal/retry-waits.ts";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { ask, controlled } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { startTold } from "../support/told-emulator.ts";
import { waitFor } from "../support/wait-for.ts";

const note = { content: "x", layer: "user" };

async function rulesOf(emulator: Emulator): Promise<string[]> {
  return (await emulator.violations.list()).map(({ rule }) => rule);
}

test("a request is in the journal with what it sent and what became of it", async () => {
  await using emulator = await startEmulator({ clock: "2026-01-01T00:00:00Z" });
  const response = await ask(emulator, "POST /v1/memories?a=b", {
    body: note,
    headers: { cookie: "secret=1" },
  });
  const { requests, dropped } = await emulator.requests.list();
  expect(dropped).toBe(0);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    id: response.headers.get("x-request-id") ?? "",
    receivedAt: "2026-01-01T00:00:00.000Z",
    finishedAt: "2026-01-01T00:00:00.000Z",
    method: "POST",
    path: "/v1/memories",
    query: "a=b",
    token: "mst_dev_pro",
    headers: expect.objectContaining({
      authorization: "Bearer mst_dev_pro",
      cookie: "[redacted]",
    }),
    body: note,
    status: 200,
    responseHeaders: expect.objectContaining({ date: "Thu, 01 Jan 2026 00:00:00 GMT" }),
  });
  const { requests: told } = await controlled<{ requests: object[] }>(emulator, "GET requests");
  expect(told[0]).toMatchObject({
    received_at: "2026-01-01T00:00:00.000Z",
    status: 200,
    body: note,
    response_headers: expect.objectContaining({ "ratelimit-policy": expect.any(String) }),
  });
});

test("a token of one's own is not in the journal, wherever and however it is written", async () => {
  await using emulator = await startEmulator();
  const { token } = emulator.tokens.create();
  const encoded = ["", "a", "ab"].map((user) => btoa(`${user}${token}`).replaceAll("=", ""));
  const escaped = token.replace("m", "%6d").replace("_", "%255F");
  await ask(emulator, `GET /v1/memories?q=${token}`, { token });
  await ask(emulator, `GET /v1/memories/${token}?${token}=1&token=${escaped}`, { token });
  await ask(emulator, `GET /v1/${escaped}`, {
    token,
    headers: { "x-said": `Basic ${encoded[0]}`, "x-more": `${encoded[1]}, ${encoded[2]}` },
  });
  emulator.faults.add({ path: "/v1/memories", status: 503, error: token, id: token });
  const text = `\\u006d${token.slice(1)}`;
  const body = `{"content": "${text}", "${text}": 1, "pad": "${"x".repeat(70_000)}"}`;
  for (const sent of [body, body.slice(0, 90)]) {
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`${emulator.url}/v1/memories`, { method: "POST", headers, body: sent });
  }
  const missing = await failureOf(() =>
    emulator.requests.waitFor({ token, count: 9, timeoutMs: 1 }),
  );
  const seen = await emulator.requests.list();
  const secrets = [token.slice(5), ...encoded.map((each) => each.slice(6))];
  for (const shown of [seen, await emulator.violations.list(), String(missing)]) {
    for (const secret of secrets) expect(JSON.stringify(shown)).not.toContain(secret);
  }
  expect(seen.requests[0]?.query).toBe(`q=mst_…${token.slice(-4)}`);
  expect(seen.requests[2]?.headers["x-said"]).toBe("Basic [redacted]");
});

test("headers whose name tells of a secret are in the journal without it, others as they came", async () => {
  await using emulator = await startEmulator();
  const secret = [
    "x-api-key",
    "x-auth",
    "x-csrf-token",
    "my-passwd",
    "aws-credential",
    "x-secrets",
  ];
  const plain = ["idempotency-key", "x-project-id", "x-more"];
  const all = [...secret, ...plain].map((name) => [name, "seen"] as const);
  await ask(emulator, "GET /v1/memories", { headers: Object.fromEntries(all) });
  const [{ headers } = { headers: {} }] = (await emulator.requests.list()).requests;
  expect(headers).toMatchObject({
    ...Object.fromEntries(secret.map((name) => [name, "[redacted]"])),
    ...Object.fromEntries(plain.map((name) => [name, "seen"])),
  });
});

test("what has no token in it is in the journal as it came, to any depth that is meant", async () => {
  await using emulator = await startEmulator();
  const content = "mst_dev_pro %6dst \\u006dst_ bXN0X1zdFtc3Rf0123456789abcdef mst_short";
  await ask(emulator, "POST /v1/memories?q=%6d%5Fst_", { body: { ...note, content } });
  const [seen] = (await emulator.requests.list()).requests;
  expect([seen?.query, seen?.body]).toEqual(["q=%6d%5Fst_", { ...note, content }]);
  const body = "[".repeat(30_000) + "]".repeat(30_000);
  const headers = { authorization: "Bearer mst_dev_pro" };
  await fetch(`${emulator.url}/v1/memories`, { method: "POST", headers, body });
  const { requests } = await controlled<{ requests: object[] }>(emulator, "GET requests");
  expect(requests).toHaveLength(2);
});

test("a request that is never answered is there from its receipt, and one that was given up", async () => {
  await using emulator = await startEmulator();
  emulator.faults.add({ path: "/v1/memories", silent: true });
  const ended = new AbortController();
  const headers = { authorization: "Bearer mst_dev_pro" };
  const { signal } = ended;
  const given = failureOf(() =>
    fetch(`${emulator.url}/v1/memories`, { method: "POST", headers, signal, body: "{}" }),
  );
  const [seen] = await emulator.requests.waitFor({ path: "/v1/memories", timeoutMs: 60_000 });
  expect(seen).not.toHaveProperty("status");
  expect(seen?.injected).toBe("fault-1");
  ended.abort();
  await given;
  await waitFor("the client's leaving is in the journal", async () => {
    return (await emulator.requests.list()).requests[0]?.aborted;
  });
});

test("whoever waits for a request has its body, or learns in the end that it came without", async () => {
  await using emulator = await startEmulator();
  const asked = { method: "POST", path: "/v1/memories" };
  const { port, host } = new URL(emulator.url);
  const body = JSON.stringify(note);
  const head = ["POST /v1/memories HTTP/1.1", `host: ${host}`, "authorization: Bearer mst_dev_pro"];
  const client = await Bun.connect({
    ...{ hostname: "127.0.0.1", port: Number(port) },
    socket: { data() {} },
  });
  const begun = [...head, `content-length: ${body.length}`, "", body.slice(0, 1)].join("\r\n");
  client.write(begun);
  await waitFor("the receipt", async () => (await emulator.requests.list()).requests[0]);
  const [early] = await emulator.requests.waitFor({ ...asked, timeoutMs: 1 });
  expect(early).not.toHaveProperty("body");
  const waiting = emulator.requests.waitFor({ ...asked, timeoutMs: 60_000 });
  await emulator.requests.list();
  client.write(body.slice(1));
  expect((await waiting)[0]?.body).toEqual(note);
  client.end();
});

test("whoever waits for requests has them when they are there, or is told what came", async () => {
  await using emulator = await startEmulator();
  const waiting = emulator.requests.waitFor({ status: 404, count: 2, timeoutMs: 60_000 });
  for (const id of ["a", "b"]) await ask(emulator, `GET /v1/projects/proj_${id}`);
  expect((await waiting).map(({ path }) => path)).toEqual([
    "/v1/projects/proj_a",
    "/v1/projects/proj_b",
  ]);
  const failed = await failureOf(() =>
    emulator.requests.waitFor({ method: "DELETE", timeoutMs: 1 }),
  );
  expect(String(failed)).toContain("0 of 1 requests came");
  expect(String(failed)).toContain("GET /v1/projects/proj_a 404");
  expect(
    await controlled(emulator, "GET requests?wait_ms=60000&min=2&path=/v1/projects/:id"),
  ).toEqual({
    requests: [expect.anything(), expect.anything()],
    dropped: 0,
  });
  expect(await controlled(emulator, "GET requests?wait_ms=1&status=500")).toEqual({
    requests: [],
    dropped: 0,
    timed_out: true,
  });
});

test("the journal is bounded for each account, and says how much it forgot", async () => {
  await using emulator = await startEmulator({ limits: "off" });
  await ask(emulator, "GET /v1/projects", { token: "mst_dev_quiet" });
  for (let at = 0; at < 1002; at++) await ask(emulator, "GET /v1/sessions");
  const { requests, dropped } = await emulator.requests.list({ token: "mst_dev_pro" });
  expect([requests.length, dropped]).toEqual([1000, 2]);
  expect((await emulator.requests.list({ token: "mst_dev_quiet" })).requests).toHaveLength(1);
  expect(emulator.requests.clear({ token: "mst_dev_quiet" })).toBe(1);
  expect((await emulator.reset({ scope: "requests" })).requests).toBe(1000);
});

test("no account loses entries to those of others, whatever these send", async () => {
  await using emulator = await startEmulator({ limits: "off" });
  const tokenOf = (name: string) => `mst_dev_${name}`;
  await ask(emulator, "POST /v1/memories", { token: tokenOf("quiet"), body: note });
  const body = "x".repeat(70_000);
  const send = async (name: string) => {
    const headers = { authorization: `Bearer ${tokenOf(name)}` };
    const path = `${emulator.url}/v1/projects/proj_a/sync`;
    await (await fetch(path, { method: "POST", headers, body })).arrayBuffer();
  };
  for (let at = 0; at < 100; at++) await send("modest");
  for (let at = 0; at < 500; at++) await Promise.all(["w0", "w1"].map(send));
  const came = async (name: string) => {
    const { requests, dropped } = await emulator.requests.list({ token: tokenOf(name) });
    return { kept: requests.length, dropped };
  };
  await emulator.requests.waitFor({ token: tokenOf("quiet"), timeoutMs: 1 });
  expect(await came("quiet")).toEqual({ kept: 1, dropped: 0 });
  expect(await came("modest")).toEqual({ kept: 100, dropped: 0 });
  const [one, other] = [await came("w0"), await came("w1")];
  // 64 MiB hold 1,024 of these bodies; a quiet one's is small.
  expect(one.kept + other.kept).toBe(923);
  expect(one.dropped + other.dropped).toBe(77);
  expect(Math.abs(one.kept - other.kept)).toBeLessThanOrEqual(1);
});

test("a client that comes back before Retry-After is over is named, and one that waits is not", async () => {
  await using emulator = await startTold({ clock: "2026-01-01T00:00:00Z" });
  emulator.faults.add({ path: "/v1/projects", retryAfter: 5, times: 2 });
  await ask(emulator, "GET /v1/projects");
  emulator.allRead();
  await emulator.clock.advance("4s");
  await ask(emulator, "GET /v1/projects");
  emulator.allRead();
  await emulator.clock.advance("5s");
  await ask(emulator, "GET /v1/projects");
  expect(await emulator.violations.list()).toEqual([
    {
      rule: "early-retry",
      text: "came back 1 s before Retry-After was over",
      requestId: expect.any(String),
      at: "2026-01-01T00:00:04.000Z",
    },
  ]);
  const failure = await failureOf(() => emulator.violations.assertNone());
  expect(String(failure)).toContain("the emulator saw 1 violation:\n");
  await emulator.reset();
  await emulator.violations.assertNone();
});

test("where the clock stands still, whoever waits in real time has waited", () => {
  let real = 0;
  const world = { now: () => 0, monotonic: () => 0 };
  const waits = new RetryWaits({ world, real: { monotonic: () => real } });
  const asked = {
    token: "a",
    method: "GET",
    path: "/v1/projects",
    run: 1,
    connection: "c",
    status: 429,
    retryAfter: "2",
  };
  let serial = 0;
  const came = (after: number) => {
    real += after;
    serial += 1;
    const entry = { ...asked, serial, violations: [] as object[] } as RequestEntry;
    waits.came(entry);
    waits.answered(entry);
    return entry.violations[0]?.text;
  };
  expect([came(0), came(1999), came(2000)]).toEqual([
    undefined,
    "came back 2 s before Retry-After was over",
    undefined,
  ]);
});

test("a reset of one account forgets who of it was told to wait, and of no other", async () => {
  await using emulator = await startTold({ clock: "2026-01-01T00:00:00Z" });
  const tokens = ["mst_dev_w1", "mst_dev_w2"];
  emulator.faults.add({ status: 429, retryAfter: 60, times: 2 });
  for (const token of tokens) await ask(emulator, "GET /v1/projects", { token });
  emulator.allRead();
  await emulator.reset({ token: "mst_dev_w1" });
  for (const token of tokens) await ask(emulator, "GET /v1/projects", { token });
  await emulator.violations.assertNone({ token: "mst_dev_w1" });
  expect(await emulator.violations.list({ token: "mst_dev_w2" })).toHaveLength(1);
});

test("asking for more than the plan allows is a violation", async () => {
  await using emulator = await startTold();
  await emulator.limits.set({ token: emulator.token, exhaust: "day", left: 1 });
  await ask(emulator, "GET /v1/projects");
  emulator.allRead();
  await ask(emulator, "GET /v1/projects");
  expect(await rulesOf(emulator)).toEqual(["over-limit"]);
  await emulator.limits.set({ token: emulator.token, exhaust: "day" });
  await emulator.reset({ scope: "requests" });
  await ask(emulator, "GET /v1/projects");
  // Nothing has told it.
  expect(await rulesOf(emulator)).toEqual([]);
});

test("fields and parameters that nobody reads are named, at any depth", async () => {
  await using emulator = await startEmulator();
  await ask(emulator, "POST /v1/memories?layr=user", { body: { ...note, titel: "x" } });
  await ask(emulator, "POST /v1/projects/proj_a/sync", {
    body: { memories: [{ key: "k", value: "v", note: "x" }], metadata: { any: "thing" } },
  });
  expect((await emulator.violations.list()).map(({ rule, text }) => `${rule}: ${text}`)).toEqual([
    "unknown-field: /titel is no field of POST /v1/memories: it is ignored",
    "unknown-parameter: layr is no parameter of POST /v1/memories: it is ignored",
    "unknown-field: /memories/0/note is no field of POST /v1/projects/:id/sync: it is ignored",
  ]);
});

test("a request that nothing serves says what does, and a refused one why", async () => {
  await using emulator = await startEmulator();
  await ask(emulator, "GET /v1/memories/");
  await ask(emulator, "GET /v1/memorys");
  await ask(emulator, "GET /memories");
  await ask(emulator, "GET /projects/proj_a");
  await ask(emulator, "GET /api/sessions/sess_a");
  await ask(emulator, "GET /memorys");
  for (const path of ["/v1/nope", "/v1/acount", "/vi/memories", "/api/projekts", "/v1/projets"])
    await ask(emulator, `GET ${path}`);
  await ask(emulator, "POST /v1/sessions", { body: {} });
  await ask(emulator, "POST /v1/memories", { body: {} });
  const { requests } = await emulator.requests.list();
  expect(requests.map(({ why }) => why)).toEqual([
    "nothing serves GET /v1/memories/: /v1/memories, without the slash at its end, is served",
    "nothing serves GET /v1/memorys: /v1/memories is served",
    "nothing serves GET /memories: /v1/memories is served",
    "nothing serves GET /projects/proj_a: /api/projects/:id and /v1/projects/:id are served",
    "nothing serves GET /api/sessions/sess_a: /v1/sessions/:id is served",
    "nothing serves GET /memorys: /v1/memories is served",
    "nothing serves GET /v1/nope",
    "nothing serves GET /v1/acount: /api/account is served",
    "nothing serves GET /vi/memories: /v1/memories is served",
    "nothing serves GET /api/projekts: /api/projects is served",
    "nothing serves GET /v1/projets: /v1/projects is served",
    "nothing serves POST /v1/sessions: the path takes GET",
    "/content is required",
  ]);
});

test("a write whose answer was lost, sent again without a key, is named", async () => {
  await using emulator = await startTold();
  for (const body of [note, { ...note, key: "k" }]) {
    emulator.faults.add({ method: "POST", disconnect: "after" });
    await failureOf(() => ask(emulator, "POST /v1/memories", { body }));
    emulator.allRead();
    await ask(emulator, "POST /v1/memories", { body });
  }
  expect(await rulesOf(emulator)).toEqual(["repeated-write"]);
});

test("where the specification alone is served, what is beyond it protects from nothing", async () => {
  await using emulator = await startTold({ publishedOnly: true });
  await ask(emulator, "GET /v1/memories?layer=user");
  const keyed = { body: { ...note, key: "k" } };
  const headed = { body: note, headers: { "idempotency-key": "once" } };
  for (const options of [keyed, headed]) {
    emulator.faults.add({ method: "POST", disconnect: "after" });
    await failureOf(() => ask(emulator, "POST /v1/memories", options));
    emulator.allRead();
    await ask(emulator, "POST /v1/memories", options);
  }
  expect(await rulesOf(emulator)).toEqual([
    "unknown-parameter",
    "unknown-field",
    "unknown-field",
    "repeated-write",
    "repeated-write",
  ]);
});

test("a strict emulator names what goes beyond the specification", async () => {
  await using emulator = await startEmulator({ strict: true });
  await ask(emulator, "GET /v1/memories?layer=user", { headers: { "x-project-id": "proj_a" } });
  await ask(emulator, "POST /v1/memories", { body: { ...note, key: "k" } });
  await ask(emulator, "POST /api/projects", { body: { id: "proj_a" } });
  await ask(emulator, "DELETE /api/projects/proj_a");
  await ask(emulator, "GET /v1/memories");
  expect((await emulator.violations.list()).map(({ rule, text }) => `${rule}: ${text}`)).toEqual([
    "unpublished-parameter: the parameter layer of GET /v1/memories is an extension",
    "unpublished-header: the header x-project-id is an extension",
    "unpublished-field: /key in POST /v1/memories is an extension",
    "unpublished-path: DELETE /api/projects/:id is an extension",
  ]);
});
