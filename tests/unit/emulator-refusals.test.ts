import { expect, setDefaultTimeout, test } from "bun:test";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
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
