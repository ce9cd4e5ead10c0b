import { expect, test } from "bun:test";
import { FaultRules } from "../../server/emulator/faults/fault-rules.ts";
import {
  type Emulator,
  type FaultRule,
  startEmulator,
} from "../../server/emulator/start-emulator.ts";
import type { AccountId } from "../../shared/ids.ts";
import { realWorld } from "../../shared/world-real.ts";
import { ask, control, controlled } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { errorOf, sendRaw } from "../support/http-server.ts";

const note = { content: "x", layer: "user" };
const write = (emulator: Emulator, token = "mst_dev_pro") =>
  ask(emulator, "POST /v1/memories", { body: note, token });

async function countOf(emulator: Emulator, token = "mst_dev_pro"): Promise<number> {
  const response = await ask(emulator, "GET /v1/memories", { token });
  return ((await response.json()) as { total: number }).total;
}

test("a connection is cut before the commit, or after it", async () => {
  await using emulator = await startEmulator();
  emulator.faults.add({ method: "POST", path: "/v1/memories", disconnect: "before" });
  expect(await failureOf(() => write(emulator))).toBeInstanceOf(Error);
  expect(await countOf(emulator)).toBe(0);
  emulator.faults.add({ method: "POST", path: "/v1/memories", disconnect: "after" });
  expect(await failureOf(() => write(emulator))).toBeInstanceOf(Error);
  expect(await countOf(emulator)).toBe(1);
  emulator.faults.assertAllFired();
});

test("a fault goes off once, or as often as it says, and counts its hits", async () => {
  await using emulator = await startEmulator();
  await controlled(emulator, "POST faults", { path: "/v1/memories", status: 500, times: 2 });
  const statuses: number[] = [];
  for (let at = 0; at < 3; at++) statuses.push((await ask(emulator, "GET /v1/memories")).status);
  expect(statuses).toEqual([500, 500, 200]);
  expect(await controlled(emulator, "GET faults")).toEqual({
    faults: [{ id: "fault-1", path: "/v1/memories", times: 2, hits: 2, remaining: 0, status: 500 }],
  });
  expect(await controlled(emulator, "DELETE faults")).toEqual({ cleared: { faults: 1 } });
});

test("an injected answer is the service's own, with its wait, and says whose doing it is", async () => {
  await using emulator = await startEmulator();
  // biome-ignore lint/suspicious/noThenProperty: the name that it has on the wire
  const faults = [{ id: "slow", path: "/v1/*", then: { status: 429, retry_after: 7 } }];
  await controlled(emulator, "PUT faults", { faults });
  const response = await ask(emulator, "GET /v1/projects/proj_a");
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("7");
  expect(response.headers.get("x-memsync-injected")).toBe("slow");
  expect(await errorOf(response)).toEqual({
    code: "rate_limited",
    message: "this answer was injected by a fault",
    request_id: response.headers.get("x-request-id") ?? "",
  });
});

test("a body is cut short, or no JSON, and what it answers is done", async () => {
  await using emulator = await startEmulator();
  emulator.faults.add({ path: "/v1/memories", truncate: 10 });
  const { port } = emulator;
  const head = "GET /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer mst_dev_pro";
  const raw = await sendRaw(port, `${head}\r\n\r\n`).catch(String);
  expect(raw).toContain("HTTP/1.1 200");
  expect(raw).toContain('{"memories');
  expect(raw).not.toContain("next_cursor");
  // Something of the body always comes, so that there is an answer.
  emulator.faults.add({ path: "/v1/memories", truncate: 0 });
  const least = await sendRaw(port, `${head}\r\n\r\n`).catch(String);
  expect(least).toMatch(/^HTTP\/1\.1 200[\s\S]*\r\n\r\n(?:1\r\n)?\{(?:\r\n)?$/);
  // Where that is more than there is, what is left out is the last byte.
  emulator.faults.add({ path: "/v1/memories", truncate: 1e6 });
  const most = await sendRaw(port, `${head}\r\n\r\n`).catch(String);
  expect(most).toContain('"next_cursor":null');
  expect(most).not.toContain('"next_cursor":null}');
  emulator.faults.add({ path: "/v1/memories", truncate: true });
  expect(
    await failureOf(async () => (await ask(emulator, "GET /v1/memories")).text()),
  ).toBeInstanceOf(Error);
  emulator.faults.add({ method: "POST", malformed: true });
  const text = await (await write(emulator)).text();
  expect(() => JSON.parse(text)).toThrow();
  expect(await countOf(emulator)).toBe(1);
});

test("a silent fault is no answer, until the client gives up or the emulator ends", async () => {
  const emulator = await startEmulator();
  emulator.faults.add({ path: "/v1/projects", silent: true });
  const waiting = failureOf(() => ask(emulator, "GET /v1/projects"));
  expect((await ask(emulator, "GET /v1/projects")).status).toBe(200);
  await emulator.close();
  expect(await waiting).toBeInstanceOf(Error);
});

test("an answer that is held back comes, and at the end at once", async () => {
  const emulator = await startEmulator();
  emulator.faults.add({ path: "/v1/projects", latencyMs: 1 });
  expect((await ask(emulator, "GET /v1/projects")).status).toBe(200);
  emulator.faults.add({ path: "/v1/projects", latencyMs: { medianMs: 0.1, sigma: 1 } });
  expect((await ask(emulator, "GET /v1/projects")).status).toBe(200);
  emulator.faults.add({ path: "/v1/projects", latencyMs: 300_000 });
  const late = ask(emulator, "GET /v1/projects");
  while (emulator.faults.list().at(-1)?.hits === 0) await ask(emulator, "GET /v1/sessions");
  await emulator.close();
  expect((await late).status).toBe(200);
});

test("one item of a sync is refused as the service refuses it", async () => {
  await using emulator = await startEmulator();
  await ask(emulator, "POST /api/projects", { body: { id: "proj_a" } });
  emulator.faults.add({ refuseItem: "b" }, { refuseItem: "user" }, { refuseItem: "proj_c" });
  const memories = ["a", "b"].map((key) => ({ key, value: "v" }));
  const plain = await ask(emulator, "POST /api/projects/proj_a/sync", { body: { memories } });
  expect([plain.status, (await errorOf(plain)).details?.[0]?.path]).toEqual([400, "/memories/1"]);
  expect(await countOf(emulator)).toBe(0);
  const state = { state_vector: "AA==" };
  const crdt = {
    encoding: "yjs-v1",
    documents: { user: state, global: state },
    projects: {
      proj_a: { documents: { project: state } },
      proj_b: { documents: { project: state } },
    },
  };
  const first = await ask(emulator, "POST /api/sync", { body: { crdt } });
  expect(((await first.json()) as never as { crdt: object }).crdt).toMatchObject({
    documents: { user: { refused: { message: expect.any(String) } }, global: { seq: 0 } },
    projects: { proj_a: { documents: {} }, proj_b: { documents: {} } },
  });
  const projects = { ...crdt.projects, proj_c: { documents: { project: state } } };
  const more = { body: { crdt: { ...crdt, projects } } };
  const second = await ask(emulator, "POST /api/sync", more);
  expect(((await second.json()) as never as { crdt: object }).crdt).toMatchObject({
    documents: { user: { seq: 0 } },
    projects: { proj_b: { documents: {} }, proj_c: { error: { code: "invalid_request" } } },
  });
  expect((await ask(emulator, "GET /v1/projects/proj_b")).status).toBe(200);
  expect((await ask(emulator, "GET /v1/projects/proj_c")).status).toBe(404);
  expect(
    (await ask(emulator, "POST /api/projects/proj_a/sync", { body: { memories } })).status,
  ).toBe(200);
});

test("requests that come at once have a fault as often as it says", async () => {
  const routes = [{ method: "POST", path: "/api/projects/:id/sync" }];
  const accountOf = () => "acc_a" as AccountId;
  for (const refuseItem of [undefined, "bad"]) {
    const rules = new FaultRules({ world: realWorld, accountOf, routes: () => routes });
    rules.add([{ method: "POST", ...(refuseItem ? { refuseItem } : { status: 503 }) }]);
    const request = { method: "POST", path: "/api/projects/a/sync", account: accountOf() };
    const find = () => rules.find(request, async () => true);
    const found = await Promise.all([find(), find(), find()]);
    expect(found.map((each) => each?.id)).toEqual(["fault-1", undefined, undefined]);
    expect(rules.list(undefined)).toMatchObject([{ hits: 1, remaining: 0 }]);
  }
});

test("a fault of one token is no other's, and goes with its reset", async () => {
  await using emulator = await startEmulator();
  emulator.faults.add(
    { token: "mst_dev_a", status: 500, times: 9 },
    { token: "mst_dev_b", status: 403 },
  );
  expect((await ask(emulator, "GET /v1/projects", { token: "mst_dev_a" })).status).toBe(500);
  expect((await ask(emulator, "GET /v1/projects")).status).toBe(200);
  expect(emulator.faults.list({ token: "mst_dev_b" })).toHaveLength(1);
  expect((await emulator.reset({ token: "mst_dev_a", scope: "faults" })).faults).toBe(1);
  expect((await ask(emulator, "GET /v1/projects", { token: "mst_dev_a" })).status).toBe(200);
  expect(() => emulator.faults.assertAllFired()).toThrow("fault-2 (any method any path)");
});

test("chance repeats for a seed", async () => {
  const run = async () => {
    await using emulator = await startEmulator({ random: 5, limits: "off" });
    emulator.faults.add({ path: "/v1/projects", status: 500, probability: 0.5, times: 1000 });
    let text = "";
    for (let at = 0; at < 30; at++)
      text += (await ask(emulator, "GET /v1/projects")).status === 500;
    return text;
  };
  const first = await run();
  expect(first).toContain("truefalse");
  expect(await run()).toBe(first);
});

test("a header asks for a single request's own misfortune", async () => {
  await using emulator = await startEmulator();
  const send = (fault: string) =>
    ask(emulator, "GET /v1/projects", { headers: { "x-memsync-fault": fault } });
  const response = await send("status=503; retry_after=2");
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await failureOf(() => send("disconnect=after"))).toBeInstanceOf(Error);
  expect((await send("status=99")).status).toBe(400);
  expect((await send("nonsense")).status).toBe(400);
  expect((await ask(emulator, "GET /v1/projects")).status).toBe(200);
});

const REFUSED: Readonly<Record<string, FaultRule>> = {
  "a path that nothing serves": { path: "/v1/memory", status: 500 },
  "a method that a path does not have": { path: "/v1/sessions", method: "POST", status: 500 },
  "no method": { method: "PATCH", status: 500 },
  "no effect": { path: "/v1/memories" },
  "two ends": { status: 500, disconnect: "after" },
  "a probability over 1": { status: 500, probability: 2 },
  "a status that is none": { status: 99 },
  "a latency with a spread below 0": { latencyMs: { medianMs: 10, sigma: -1 } },
};

for (const [what, rule] of Object.entries(REFUSED)) {
  test(`a rule with ${what} is refused, and those that are there stay`, async () => {
    await using emulator = await startEmulator();
    emulator.faults.add({ status: 500 });
    expect((await control(emulator, "PUT faults", { body: { faults: [rule] } })).status).toBe(400);
    // Over HTTP a name of the library's is none: here it is the rule itself that is refused.
    expect(() => emulator.faults.add(rule)).toThrow();
    expect(emulator.faults.list()).toHaveLength(1);
  });
}

test("what is put in place of one account's faults is of this account alone", async () => {
  await using emulator = await startEmulator();
  const [own, other] = ["mst_dev_w1", "mst_dev_w2"];
  emulator.faults.add({ token: other, status: 502 });
  const faults = [{ status: 503, times: 2 }];
  for (let at = 0; at < 2; at++) await controlled(emulator, `PUT faults?token=${own}`, { faults });
  expect(emulator.faults.list({ token: own })).toHaveLength(1);
  expect((await write(emulator)).status).toBe(200);
  expect((await write(emulator, other)).status).toBe(502);
  expect((await write(emulator, own)).status).toBe(503);
  const refused = await failureOf(async () =>
    emulator.faults.set([{ token: other, status: 500 }], { token: own }),
  );
  expect(String(refused)).toContain("/faults/0/token is of another account");
  expect(emulator.faults.list({ token: own })).toHaveLength(1);
});

test("a path is a route, with any text for what it leaves open", async () => {
  await using emulator = await startEmulator();
  for (const path of [
    "/v1/memories/:id",
    "/v1/memories/{id}",
    "/v1/memories/*",
    "/v1/memories/mem_x",
  ]) {
    emulator.faults.set([{ method: "DELETE", path, status: 500 }]);
    expect((await ask(emulator, "DELETE /v1/memories/mem_x")).status).toBe(500);
  }
});

test("a live socket's handshake is refused, too", async () => {
  await using emulator = await startEmulator();
  emulator.faults.add(
    { path: "/api/live", status: 500 },
    { path: "/api/live", disconnect: "before" },
  );
  const shake = () =>
    sendRaw(
      emulator.port,
      "GET /api/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer mst_dev_pro\r\n" +
        "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    ).catch(() => "");
  expect(await shake()).toContain("HTTP/1.1 500");
  expect(await shake()).toBe("");
});
