import { expect, setDefaultTimeout, test } from "bun:test";
import { request } from "node:http";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { ask, control } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { errorOf } from "../support/http-server.ts";

setDefaultTimeout(30_000);

test("a body that has a field twice is refused with its line, and nothing is done", async () => {
  await using emulator = await startEmulator({
    seed: { user: { memories: [{ key: "k", value: "v" }] } },
  });
  const before = await emulator.export();
  for (const [call, body] of [
    ["import", '{"user": {"memories": []},\n "user": {}}'],
    ["seed", '{"user": {"memories": [\n{"key": "a", "key": "b", "value": "x"}]}}'],
    ["reset", '{"token": "mst_dev_a",\n"token": "mst_dev_pro"}'],
    ["faults", '{"status": 500,\n"status": 503}'],
  ]) {
    const headers = { "content-type": "application/json" };
    const url = `${emulator.url}/_emulator/${call}`;
    const refused = await fetch(url, { method: "POST", headers, body });
    expect(refused.status).toBe(400);
    expect((await errorOf(refused)).message).toMatch(/^line:2 "\w+" is given twice/);
  }
  expect(await emulator.export()).toEqual(before);
  expect(emulator.faults.list()).toEqual([]);
});

test("a call that reads no body refuses one, and says where its token goes", async () => {
  await using emulator = await startEmulator();
  emulator.faults.add({ path: "/v1/memories", status: 503, times: 9 });
  await emulator.snapshots.save("k");
  await ask(emulator, "GET /v1/projects");
  const body = { token: "mst_dev_zz" };
  for (const call of ["DELETE faults", "DELETE requests", "DELETE snapshots/k"]) {
    const refused = await control(emulator, call, { body });
    expect([call, refused.status]).toEqual([call, 400]);
    expect((await errorOf(refused)).message).toContain("?token=");
  }
  expect(await getWithBody(emulator.port, "/_emulator/violations", body)).toBe(400);
  expect(emulator.faults.list()).toHaveLength(1);
  expect((await emulator.requests.list()).requests).toHaveLength(1);
  expect(emulator.snapshots.list()).toEqual(["k"]);
  expect((await control(emulator, "DELETE faults")).status).toBe(200);
});

/** `fetch` sends none with a GET. */
function getWithBody(port: number, path: string, body: unknown): Promise<number | undefined> {
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": text.length };
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", path, method: "GET", headers }, (answered) => {
      answered.resume();
      resolve(answered.statusCode);
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

test("a rule with an effect both beside then and in it is refused", async () => {
  await using emulator = await startEmulator();
  const headers = { "content-type": "application/json" };
  // biome-ignore lint/suspicious/noThenProperty: the name that it has on the wire
  const body = JSON.stringify({ faults: [{ then: { status: 500 }, latency_ms: 5 }] });
  const refused = await fetch(`${emulator.url}/_emulator/faults`, {
    method: "POST",
    headers,
    body,
  });
  expect(refused.status).toBe(400);
  expect((await errorOf(refused)).message).toStartWith("/faults/0/latency_ms can't be");
  expect(emulator.faults.list()).toEqual([]);
});

test("a control token that no request could carry is refused at the start", async () => {
  for (const controlToken of ["", "a b", "a\nb", "é"]) {
    const failure = await failureOf(() => startEmulator({ controlToken }));
    expect(String(failure)).toContain("controlToken");
  }
});

test("a rule that can never go off, or a wait that is none, is refused with its field", async () => {
  await using emulator = await startEmulator();
  for (const [field, rule] of [
    ["path", { path: "/v1/memories/", status: 500 }],
    ["path", { path: "/v1/memories/bad id", status: 500 }],
    ["path", { path: "/v1/memories/mem_a?layer=user", status: 500 }],
    ["probability", { probability: 0, status: 500 }],
    ["refuseItem", { refuseItem: "" }],
    ["refuseItem", { refuseItem: "k", path: "/v1/memories" }],
    ["refuseItem", { refuseItem: "k", path: "/api/live" }],
    ["refuseItem", { refuseItem: "k", method: "GET" }],
    ["retryAfter", { retryAfter: "soon" }],
    ["retryAfter", { retryAfter: "1.5" }],
  ] as const) {
    const failure = await failureOf(async () => emulator.faults.add(rule));
    expect(String(failure)).toContain(`/faults/0/${field} `);
  }
  emulator.faults.add(
    { refuseItem: "k" },
    { refuseItem: "k", path: "/v1/projects/proj_a/sync" },
    { path: "/v1/memories/mem_a%20b", status: 500 },
    { retryAfter: "Wed, 21 Oct 2026 07:28:00 GMT" },
    { retryAfter: "120" },
  );
});

test("a request that asks by its header for what can't happen to it is refused", async () => {
  await using emulator = await startEmulator();
  const get = (fault: string) =>
    fetch(`${emulator.url}/v1/memories`, {
      headers: { authorization: `Bearer ${emulator.token}`, "x-memsync-fault": fault },
    });
  expect((await errorOf(await get("refuse_item=x"))).message).toContain("has no item x");
  expect(String(await failureOf(async () => (await get("truncate=true")).text()))).toContain(
    "Error",
  );
});

for (const [host, told] of [
  ["0.0.0.0", "127.0.0.1"],
  ["::", "[::1]"],
] as const) {
  test(`an emulator on all addresses, ${host}, tells one that can be called`, async () => {
    await using emulator = await startEmulator({ host });
    expect(emulator.url).toBe(`http://${told}:${emulator.port}`);
    expect(emulator.env.MEMSYNC_URL).toBe(emulator.url);
    const headers = { authorization: `Bearer ${emulator.token}` };
    expect((await fetch(`${emulator.url}/v1/memories`, { headers })).status).toBe(200);
  });
}

test("after its end every call says so, and who waited is told so", async () => {
  const emulator = await startEmulator();
  const waited = failureOf(() => emulator.requests.waitFor({ timeoutMs: 60_000 }));
  await emulator.close();
  const closed = "Error: the emulator is closed";
  expect(String(await waited)).toBe(closed);
  for (const call of [
    () => emulator.reset(),
    () => emulator.seed({}),
    () => emulator.faults.add({ status: 500 }),
    () => emulator.clock.advance("1s"),
    () => emulator.requests.list(),
    () => emulator.tokens.create(),
    () => emulator.snapshots.list(),
    () => emulator.routes(),
  ]) {
    expect(String(await failureOf(async () => await call()))).toBe(closed);
  }
  await emulator.close();
});

test("a path without its beginning is told which one was meant, and secret headers stay out", async () => {
  await using emulator = await startEmulator();
  const headers = { "x-auth-token": "hidden", "idempotency-key": "shown" };
  await fetch(`${emulator.url}/memories`, { headers });
  const [seen] = (await emulator.requests.list()).requests;
  expect(seen?.why).toBe("nothing serves GET /memories: /v1/memories is served");
  expect(seen?.headers).toMatchObject({
    "x-auth-token": "[redacted]",
    "idempotency-key": "shown",
  });
});

for (const [path, meant] of [
  ["*", "/*"],
  ["/v1/*/sync", "/v1/projects/:id/sync"],
  ["/v1/:any/sync", "/v1/projects/:id/sync"],
  ["v1/memories", "/v1/memories"],
] as const) {
  test(`a rule for ${path} never goes off, and is refused with the path that was meant`, async () => {
    await using emulator = await startEmulator();
    const why = String(await failureOf(async () => emulator.faults.add({ path, status: 503 })));
    expect(why).toContain(`never go off; ${meant} is served`);
    expect(emulator.faults.add({ path: meant, status: 503 })).toHaveLength(1);
  });
}

test("an item of a fixed route can be named behind an open part, and a latency of none is one", async () => {
  await using emulator = await startEmulator();
  for (const path of ["/v1/*/proj_a", "/v1/projects/*/sync", "/v1/*", "/v1/projects/sync"]) {
    expect(emulator.faults.add({ path, latencyMs: 0 })).toHaveLength(1);
  }
});

test("two moves of the clock in one call are refused, and a wrong one by its name", async () => {
  await using emulator = await startEmulator();
  const body = { advance: 1, advance_ms: 1 };
  expect((await control(emulator, "POST clock", { body })).status).toBe(400);
  for (const name of ["advance", "advance_ms"]) {
    const refused = await control(emulator, "POST clock", { body: { [name]: -1 } });
    expect((await errorOf(refused)).message).toStartWith(`${name} must be milliseconds`);
  }
});

for (const host of ["::1", "[", "[::1", "%"]) {
  test(`a control call whose Host is ${host} is refused, not failed at`, async () => {
    await using emulator = await startEmulator({ host: "0.0.0.0" });
    const headers = { host, authorization: `Bearer ${emulator.controlToken}` };
    for (const path of ["health", "requests"]) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const asked = request(`${emulator.url}/_emulator/${path}`, { headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.once("error", reject).end();
      });
      expect(status).toBe(400);
    }
  });
}

test("a token that a reset took back is told so, is counted, and no other token is", async () => {
  await using emulator = await startEmulator({ random: 1 });
  const told = async (token: string) => {
    const refused = await ask(emulator, "GET /v1/projects", { token });
    return [refused.status, (await errorOf(refused)).message];
  };
  const { token } = emulator.tokens.create({ account: "w1" });
  emulator.tokens.create();
  expect((await emulator.reset({ scope: "limits" })).tokens).toBe(0);
  expect((await emulator.reset({ scope: "data", token })).tokens).toBe(0);
  expect((await emulator.reset({ scope: "data" })).tokens).toBe(2);
  expect(await told(token)).toEqual([401, expect.stringContaining("reset of the emulator took")]);
  const [, why] = await told(`${token}0`);
  expect(why).toContain("unknown, expired or revoked");
  expect(String(await failureOf(() => emulator.reset({ token })))).toContain(
    "took this token back",
  );
  // With chance that began again it is the same one, which is valid.
  expect(emulator.tokens.create({ account: "w1" }).token).toBe(token);
  expect((await ask(emulator, "GET /v1/projects", { token })).status).toBe(200);
});

test("what nobody reads is told once by a strict emulator, and not as an extension", async () => {
  await using emulator = await startEmulator({ strict: true });
  const body = { layer: "user", content: "c", nope: 1 };
  await ask(emulator, "POST /v1/memories?never=1", { body });
  const found = await emulator.violations.list();
  expect(found.map(({ rule }) => rule)).toEqual(["unknown-field", "unknown-parameter"]);
});

test("an option that is null is left out, and what is no time is none", async () => {
  const nothing = { clock: null, random: null, port: null, dataDir: null, seed: null };
  await using emulator = await startEmulator(nothing as never);
  expect(emulator.clock.read().frozen).toBe(false);
  for (const time of [null, [], [0], true, {}]) {
    const failure = await failureOf(() => emulator.clock.freeze(time as never));
    expect(String(failure)).toContain("freeze must be an ISO 8601 timestamp");
  }
  expect(String(await failureOf(() => emulator.clock.advance(["2h"] as never)))).toContain(
    "advance must be milliseconds",
  );
});

test("of two tokens in a control call neither is guessed", async () => {
  await using emulator = await startEmulator();
  const two = "token=mst_dev_a&token=mst_dev_b";
  const body = { token: "mst_dev_a" };
  for (const [route, given] of [
    [`GET export?${two}`, {}],
    [`DELETE requests?${two}`, {}],
    [`POST seed?${two}`, { body: {} }],
    ["POST seed?token=mst_dev_b", { body }],
    ["PUT snapshots/x?token=mst_dev_b", { body }],
  ] as const) {
    const refused = await control(emulator, route, given);
    expect([route, refused.status]).toEqual([route, 400]);
    expect((await errorOf(refused)).message).toMatch(/^token is (given twice|another one)/);
  }
});

test("metrics that are not for this client are told as what nothing serves", async () => {
  await using emulator = await startEmulator();
  const headers = { via: "1.1 proxy" };
  await ask(emulator, "GET /metrics", { headers });
  await ask(emulator, "GET /metrics", { headers, token: "" });
  await ask(emulator, "GET /metrics");
  await using published = await startEmulator({ publishedOnly: true });
  await ask(published, "GET /metrics");
  const whyOf = async ({ requests }: typeof emulator) =>
    (await requests.list()).requests.map(({ why }) => why);
  const beyond = "nothing serves GET /metrics to others than this machine, or by a proxy";
  expect(await whyOf(emulator)).toEqual([beyond, beyond, undefined]);
  const alone = "it is beyond the specification, which alone is served";
  expect(await whyOf(published)).toEqual([`nothing serves GET /metrics: ${alone}`]);
  expect(published.routes().map(({ path }) => path)).not.toContain("/metrics");
});
