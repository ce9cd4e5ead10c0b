import { expect, test } from "bun:test";
import type { AppDeps } from "../../server/app/app-deps.ts";
import { AnswerBudget } from "../../server/http/answer-budget.ts";
import { BodyBudget } from "../../server/http/body-budget.ts";
import { BODY_ARRIVAL_MS_MAX } from "../../server/http/body-deadline.ts";
import { mayReadMetrics } from "../../server/http/metrics-access.ts";
import { LiveSockets } from "../../server/live/live-sockets.ts";
import { countRefusals } from "../../server/operations/count-refusals.ts";
import { Readiness } from "../../server/operations/readiness.ts";
import { ServerMetrics } from "../../server/operations/server-metrics.ts";
import type { LogFields } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createFakeServices, PROJECT } from "../support/fake-services.ts";
import { errorOf, sendRaw, startServer } from "../support/http-server.ts";
import { connectLive } from "../support/live-client.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

const TOKEN = "a-token-for-the-metrics";

/** A server that is operated, what it logged, and its parts. */
async function startOperated(
  options: Partial<AppDeps> = {},
  metricsToken: string | undefined = undefined,
) {
  const sockets = new LiveSockets();
  const readiness = new Readiness("ready");
  const metrics = new ServerMetrics({
    isReady: () => readiness.told === "ready",
    sockets,
    bodies: new BodyBudget(realWorld),
    answers: new AnswerBudget(realWorld),
    documentsOpen: () => 3,
    documentBytesOpen: () => 4000,
    logRows: async () => 5,
    databaseBytes: async () => 6000,
    startedAt: 7000,
  });
  const lines: { level: string; fields: LogFields }[] = [];
  const at = (level: string) => (fields: LogFields) =>
    void lines.push({ level, fields: { ...fields } });
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const operations = { readiness, metrics, metricsToken };
  const server = await startServer({ log, sockets, operations, ...options });
  return {
    server,
    readiness,
    metrics,
    sockets,
    lines,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test("/readyz is 200 when the server wants requests, and 503 when it does not", async () => {
  await using operated = await startOperated();
  const { server, readiness } = operated;
  const ready = await server.send("GET", "/readyz", { token: "" });
  expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
  for (const state of ["starting", "draining"] as const) {
    readiness.state = state;
    const unready = await server.send("GET", "/readyz", { token: "" });
    expect([unready.status, await unready.json()]).toEqual([503, { status: state }]);
    expect((await server.send("GET", "/healthz", { token: "" })).status).toBe(200);
    expect((await server.send("GET", "/v1/memories")).status).toBe(200);
  }
});

test("the probes have entity tags", async () => {
  await using operated = await startOperated();
  for (const path of ["/healthz", "/readyz"]) {
    const tag = (await operated.server.send("GET", path)).headers.get("etag") ?? "";
    const headers = { "If-None-Match": tag };
    expect((await operated.server.send("GET", path, { headers })).status).toBe(304);
  }
});

test("this machine reads the metrics, and what came through a proxy does not", async () => {
  await using operated = await startOperated();
  const { server } = operated;
  const read = await server.send("GET", "/metrics", { token: "" });
  expect(read.status).toBe(200);
  expect(read.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const text = await read.text();
  for (const line of [
    "memsync_documents_open 3",
    "memsync_log_rows 5",
    "memsync_database_bytes 6000",
  ])
    expect(text).toContain(`\n${line}\n`);
  for (const name of ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"]) {
    const headers = { [name]: "for=127.0.0.1" };
    expect((await server.send("GET", "/metrics", { headers })).status).toBe(404);
    expect((await server.send("GET", "/metrics", { headers, token: "" })).status).toBe(401);
  }
});

test("where there is a metrics token, only that reads them", async () => {
  await using operated = await startOperated({}, TOKEN);
  const { server } = operated;
  expect((await server.send("GET", "/metrics", { token: TOKEN })).status).toBe(200);
  const headers = { "X-Forwarded-For": "192.0.2.1" };
  expect((await server.send("GET", "/metrics", { token: TOKEN, headers })).status).toBe(200);
  expect((await server.send("GET", "/metrics", { token: "" })).status).toBe(401);
  expect((await server.send("GET", "/metrics", { token: `${TOKEN}x` })).status).toBe(401);
  expect((await server.send("GET", "/metrics", { token: "write" })).status).toBe(404);
  expect((await server.send("GET", "/v1/memories", { token: TOKEN })).status).toBe(401);
});

test("peers are on this machine by their address alone", () => {
  const may = (address: string | undefined) => {
    const peer = address === undefined ? undefined : { address, port: 1 };
    return mayReadMetrics(new Headers(), () => peer, undefined);
  };
  expect(["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"].map(may)).not.toContain(false);
  const others = ["10.0.0.1", "::", "1127.0.0.1", "127.0.0.1.example", "fe80::1", "", undefined];
  expect(others.map(may)).not.toContain(true);
  expect(mayReadMetrics(new Headers({ Host: "127.0.0.1" }), undefined, undefined)).toBe(false);
});

test("without operations there are no metrics", async () => {
  await using server = await startServer();
  expect((await server.send("GET", "/metrics", { token: "" })).status).toBe(401);
  expect((await server.send("GET", "/metrics")).status).toBe(404);
});

test("a request is one line of figures and a pattern, and nothing that was sent", async () => {
  await using operated = await startOperated();
  const { server, lines } = operated;
  const answer = await server.send("GET", "/v1/memories?q=planted&limit=5");
  const bytes = (await answer.text()).length;
  await server.send("DELETE", "/v1/memories/mem_planted");
  await server.send("GET", "/planted/path", { token: "planted" });
  await server.send("POST", "/v1/memories", { body: '{"content":"planted"' });
  expect(
    lines.map(({ level, fields }) => [level, fields.method, fields.route, fields.status]),
  ).toEqual([
    ["info", "GET", "/v1/memories", 200],
    ["info", "DELETE", "/v1/memories/:id", 200],
    ["info", "GET", "unmatched", 401],
    ["info", "POST", "/v1/memories", 400],
  ]);
  expect(lines[0]?.fields).toEqual({
    request_id: answer.headers.get("x-request-id") ?? "",
    method: "GET",
    route: "/v1/memories",
    status: 200,
    duration_ms: expect.any(Number),
    bytes,
    account: "acct_one",
    client: "127.0.0.1",
  });
  expect(lines[2]?.fields.account).toBeUndefined();
  expect(JSON.stringify(lines)).not.toContain("planted");
});

test("probes and scrapes that go well are no lines of the usual log", async () => {
  await using operated = await startOperated();
  const { server, lines, readiness } = operated;
  for (const path of ["/healthz", "/readyz", "/metrics"]) await server.send("GET", path);
  readiness.state = "draining";
  await server.send("GET", "/readyz");
  expect(lines.map(({ level }) => level)).toEqual(["debug", "debug", "debug", "info"]);
});

test("requests are counted by what is a small set, whatever is sent", async () => {
  await using operated = await startOperated();
  const { server, metrics } = operated;
  for (let at = 0; at < 50; at++) {
    await server.send("GET", `/v1/projects/proj_${at}`);
    await server.send("GET", `/nowhere/${at}`);
    await sendRaw(server.listener.port, `M${at} /v1/memories HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  }
  await server.send("HEAD", "/v1/memories");
  const text = await metrics.render();
  const count = (labels: string) =>
    Number(new RegExp(`^memsync_http_requests_total\\{${labels}\\} (.+)$`, "m").exec(text)?.[1]);
  expect(count('route="/v1/projects/:id",method="GET",status="200"')).toBe(50);
  expect(count('route="unmatched",method="GET",status="404"')).toBe(50);
  expect(count('route="/v1/memories",method="HEAD",status="200"')).toBe(1);
  expect(text.match(/^memsync_http_requests_total\{/gm)?.length).toBeLessThan(8);
  expect(text).not.toContain("M4");
});

test("a handshake is counted, and its socket until it closes", async () => {
  await using operated = await startOperated();
  const { server, metrics, sockets, lines } = operated;
  const client = await connectLive(server.listener.url, "write");
  client.send(JSON.stringify({ type: "subscribe", project_ids: [PROJECT] }));
  await client.next();
  expect(await metrics.render()).toContain("\nmemsync_live_sockets 1\n");
  expect(await metrics.render()).toContain("\nmemsync_live_subscriptions 1\n");
  client[Symbol.dispose]();
  await waitFor("the socket to be closed", () => sockets.open === 0);
  expect(lines.map(({ fields }) => [fields.route, fields.status])).toEqual([["/api/live", 101]]);
});

test("refused updates are counted by their reason, 429s and commits by themselves", async () => {
  await using operated = await startOperated();
  const { metrics } = operated;
  const fake = createFakeServices();
  fake.on("sync.exchange", async () => ({
    documents: {
      project: { refused: { message: "no" } },
      user: { forbidden: true },
      global: { epoch: "e", seq: 1, missing: true },
    },
  }));
  const { sync } = countRefusals(fake.services, metrics);
  const nobody = {} as Parameters<typeof sync.exchange>[0];
  await sync.exchange(nobody, PROJECT, { documents: {}, createMissing: false });
  metrics.countRequest("/v1/memories", "GET", { status: 429, seconds: 0 });
  metrics.countCommit(0.002, true);
  metrics.countCommit(9, false);
  const text = await metrics.render();
  for (const line of [
    'memsync_updates_refused_total{reason="refused"} 1',
    'memsync_updates_refused_total{reason="forbidden"} 1',
    'memsync_updates_refused_total{reason="missing"} 1',
    "memsync_rate_limited_total 1",
    'memsync_commit_duration_seconds_bucket{le="0.0025"} 1',
    "memsync_commit_duration_seconds_count 1",
    "memsync_commits_failed_total 1",
  ])
    expect(text).toContain(`\n${line}\n`);
});

test("a body that does not arrive in time is 400", async () => {
  const { world, fire } = manualTimers();
  await using server = await startServer({ world });
  using slow = await connectRaw(server.listener.port ?? 0);
  const head = "Host: localhost\r\nAuthorization: Bearer write\r\nContent-Length: 1000";
  slow.write(`POST /v1/memories HTTP/1.1\r\n${head}\r\n\r\n{"content"`);
  await waitFor("an answer, time being up", () => {
    fire(BODY_ARRIVAL_MS_MAX);
    return slow.received() !== "";
  });
  expect(await slow.until(/\}$/)).toStartWith("HTTP/1.1 400 ");
  expect(slow.received()).toContain("did not arrive within 100 seconds");
  expect(server.fake.calls).toEqual([]);
});

test("a host that is allowed is served where foreign ones are not", async () => {
  await using server = await startServer({
    loopbackOnly: true,
    allowedHosts: ["memory.example.com"],
  });
  const statusFor = async (headers: Record<string, string>) =>
    (await server.send("GET", "/v1/memories", { headers })).status;
  expect(await statusFor({ Host: "Memory.example.com:8443" })).toBe(200);
  expect(await statusFor({ Origin: "https://memory.example.com" })).toBe(200);
  expect(await statusFor({ Host: "memory.example.com.evil.example" })).toBe(403);
  expect(await statusFor({ Origin: "https://evil.example" })).toBe(403);
  const refused = await server.send("GET", "/healthz", { headers: { Host: "evil.example" } });
  expect((await errorOf(refused)).code).toBe("forbidden");
});
