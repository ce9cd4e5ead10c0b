import { expect, test } from "bun:test";
import type { Emulator } from "../../server/emulator/start-emulator.ts";
import { ask, type EmulatorCall } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { startTold } from "../support/told-emulator.ts";

type Told = Awaited<ReturnType<typeof startTold>>;

const body = { content: "x" };

async function rulesOf(emulator: Emulator): Promise<string[]> {
  return (await emulator.violations.list()).map(({ rule }) => rule);
}

/** A write of which nobody knows whether it was done. */
async function lose(emulator: Told, call: EmulatorCall = {}): Promise<void> {
  emulator.faults.add({ method: "POST", disconnect: "after" });
  await failureOf(() => ask(emulator, "POST /v1/memories", { body, ...call }));
  emulator.allRead();
}

const BETWEEN: Readonly<Record<string, (emulator: Told) => Promise<unknown>>> = {
  "a reset of the data": (emulator) => emulator.reset({ scope: "data" }),
  "another state was restored": (emulator) => emulator.snapshots.restore("before"),
  "an import": (emulator) => emulator.import({}, { token: emulator.token }),
  "its client has looked what there is": async (emulator) => {
    await ask(emulator, "GET /v1/memories");
    emulator.allRead();
  },
  "its client has looked, and nothing was new": async (emulator) => {
    const etag = (await ask(emulator, "GET /v1/memories")).headers.get("etag") ?? "";
    emulator.allRead();
    const headers = { "if-none-match": etag };
    expect((await ask(emulator, "GET /v1/memories", { headers })).status).toBe(304);
    emulator.allRead();
  },
  "a day": (emulator) => emulator.clock.advance("25h"),
};

for (const [what, between] of Object.entries(BETWEEN)) {
  test(`a write that was lost is written again after ${what} by who may`, async () => {
    await using emulator = await startTold();
    await emulator.snapshots.save("before");
    await lose(emulator);
    await between(emulator);
    await ask(emulator, "POST /v1/memories", { body });
    expect(await rulesOf(emulator)).toEqual([]);
  });
}

const OF_PROJECT = { content: "x", project_id: "proj_a" };
const OF_USER = { content: "x", layer: "user" };

/** What a client asks after a write that was lost, and whether its answer shows that write. */
const LOOKS: readonly (readonly [string, typeof OF_PROJECT | typeof OF_USER, boolean])[] = [
  ["GET /v1/memories?project_id=proj_a", OF_PROJECT, true],
  ["GET /v1/memories?layer=project", OF_PROJECT, true],
  ["GET /v1/memories", OF_PROJECT, true],
  ["GET /api/projects/proj_a", OF_PROJECT, true],
  ["GET /v1/projects/proj_a", OF_PROJECT, true],
  ["GET /v1/projects", OF_PROJECT, true],
  ["POST /v1/projects/proj_a/sync", OF_PROJECT, true],
  ["POST /api/projects/proj_b/sync", OF_PROJECT, false],
  ["POST /api/projects/proj_a/sync", OF_USER, false],
  ["GET /v1/memories?project_id=proj_b", OF_PROJECT, false],
  ["GET /v1/memories?layer=user", OF_PROJECT, false],
  ["GET /api/projects/proj_b", OF_PROJECT, false],
  ["GET /api/projects/stats", OF_PROJECT, false],
  ["GET /v1/sessions", OF_PROJECT, false],
  ["GET /v1/memories?project_id=proj_b", OF_USER, true],
  ["GET /v1/memories?layer=user", OF_USER, true],
  ["GET /v1/memories?layer=global", OF_USER, false],
  ["GET /api/projects/proj_a", OF_USER, false],
  ["GET /api/projects", OF_USER, false],
];

for (const [look, body, shows] of LOOKS) {
  const where = "project_id" in body ? "a project's" : "a user's";
  const told = shows ? "says what there is of" : "says nothing of";
  test(`${look} ${told} ${where} memories`, async () => {
    await using emulator = await startTold();
    for (const id of ["proj_a", "proj_b"])
      await ask(emulator, "POST /api/projects", { body: { id } });
    await lose(emulator, { body });
    const asked = look.startsWith("POST") ? { body: {} } : {};
    expect((await ask(emulator, look, asked)).status).toBe(200);
    emulator.allRead();
    await ask(emulator, "POST /v1/memories", { body });
    expect(await rulesOf(emulator)).toEqual(shows ? [] : ["repeated-write"]);
  });
}

test("where the specification alone is served, any list of memories shows a write", async () => {
  await using emulator = await startTold({ publishedOnly: true });
  await lose(emulator, { body: OF_USER });
  await ask(emulator, "GET /v1/memories?layer=project");
  emulator.allRead();
  await ask(emulator, "POST /v1/memories", { body: OF_USER });
  expect(await rulesOf(emulator)).toEqual(["unknown-parameter"]);
});

for (const effect of [{ latencyMs: 1 }, { truncate: true }, { malformed: true }] as const) {
  const isWhole = "latencyMs" in effect;
  test(`a look with ${JSON.stringify(effect)} ${isWhole ? "shows" : "does not show"} a write`, async () => {
    await using emulator = await startTold();
    await lose(emulator);
    emulator.faults.add({ method: "GET", path: "/v1/memories", ...effect });
    const look = async () => (await ask(emulator, "GET /v1/memories")).text();
    await look().catch(() => undefined);
    emulator.allRead();
    await ask(emulator, "POST /v1/memories", { body });
    expect(await rulesOf(emulator)).toEqual(isWhole ? [] : ["repeated-write"]);
  });
}

for (const effect of [{ truncate: true }, { truncate: 1 }, { malformed: true }] as const) {
  test(`a write whose answer had ${JSON.stringify(effect)} may be written, a refusal not`, async () => {
    await using emulator = await startTold();
    const write = async (sent: object) => {
      const response = await ask(emulator, "POST /v1/memories", { body: sent });
      await response.text();
    };
    for (const sent of [OF_USER, { ...body, layer: "nowhere" }]) {
      emulator.faults.add({ method: "POST", path: "/v1/memories", ...effect });
      await write(sent).catch(() => undefined);
      emulator.allRead();
      await write(sent);
      emulator.allRead();
    }
    expect(await rulesOf(emulator)).toEqual(["repeated-write"]);
  });
}

/** The Idempotency-Keys of equal writes, of which the first has no answer, and which is accused. */
const KEYS: readonly (readonly [string, readonly (string | undefined)[], readonly number[]])[] = [
  ["the same key", ["a", "a"], []],
  ["a new key", ["a", "b"], [1]],
  ["a key at last", [undefined, "b"], [1]],
  ["no key any more", ["a", undefined], [1]],
  ["a new key, and then another write", ["a", "b", "c"], [1]],
  ["the same key, beside another write", ["a", "b", "a"], []],
  ["the same key, and then another write", ["a", "a", "b"], []],
];

for (const [what, keys, accused] of KEYS) {
  test(`who writes again under ${what} is ${accused.length === 0 ? "not " : ""}accused`, async () => {
    await using emulator = await startTold();
    emulator.faults.add({ method: "POST", disconnect: "after" });
    for (const key of keys) {
      const headers = key === undefined ? {} : { "idempotency-key": key };
      await failureOf(() => ask(emulator, "POST /v1/memories", { body: OF_USER, headers }));
      emulator.allRead();
    }
    const { requests } = await emulator.requests.list();
    const wrong = requests.flatMap(({ violations = [] }, at) => violations.map(() => at));
    expect(wrong).toEqual([...accused]);
  });
}

test("a write in another project is another write", async () => {
  await using emulator = await startTold();
  for (const id of ["proj_a", "proj_b"])
    await ask(emulator, "POST /api/projects", { body: { id } });
  await lose(emulator, { headers: { "x-project-id": "proj_a" } });
  await ask(emulator, "POST /v1/memories", { body, headers: { "x-project-id": "proj_b" } });
  expect(await rulesOf(emulator)).toEqual([]);
  await ask(emulator, "POST /v1/memories", { body, headers: { "x-project-id": "proj_a" } });
  expect(await rulesOf(emulator)).toEqual(["repeated-write"]);
});

/** Somebody was told to wait for a minute. */
async function holdOff(emulator: Told): Promise<void> {
  emulator.faults.add({ path: "/v1/projects", status: 429, retryAfter: 60 });
  await ask(emulator, "GET /v1/projects");
  emulator.allRead();
}

test("what no plan counts may be asked for at any time", async () => {
  await using emulator = await startTold();
  await holdOff(emulator);
  for (const path of ["/healthz", "/readyz", "/openapi.json", "/docs", "/metrics"]) {
    await ask(emulator, `GET ${path}`);
  }
  await ask(emulator, "OPTIONS /v1/projects");
  await ask(emulator, "GET /v1/nope");
  await ask(emulator, "POST /v1/sessions", { body });
  expect((await rulesOf(emulator)).filter((rule) => rule === "early-retry")).toEqual([]);
  await ask(emulator, "GET /v1/memories");
  expect(await rulesOf(emulator)).toContain("early-retry");
});

const LIFTED: Readonly<Record<string, (emulator: Told) => unknown>> = {
  "the limits are reset": (emulator) => emulator.reset({ scope: "limits" }),
  "the faults are reset": (emulator) => emulator.reset({ scope: "faults" }),
  "the faults are cleared": (emulator) => emulator.faults.clear(),
  "the faults are others": (emulator) => emulator.faults.set([]),
  "there are no limits any more": (emulator) => emulator.limits.set({ off: true }),
};

for (const [what, lift] of Object.entries(LIFTED)) {
  test(`nobody has to wait once ${what}`, async () => {
    await using emulator = await startTold();
    await holdOff(emulator);
    await lift(emulator);
    await ask(emulator, "GET /v1/projects");
    expect(await rulesOf(emulator)).toEqual([]);
  });
}

const TAKEN_BACK: Readonly<Record<string, (emulator: Told) => unknown>> = {
  "the data is reset": ({ reset, token }) => reset({ scope: "data", token }),
  "another state is restored": ({ snapshots, token }) => snapshots.restore("before", { token }),
  "another state is imported": (emulator) => emulator.import({}, { token: emulator.token }),
  "what came is cleared": ({ requests, token }) => requests.clear({ token }),
};

for (const [what, takeBack] of Object.entries(TAKEN_BACK)) {
  test(`nobody has to wait for what a fault said before ${what}`, async () => {
    await using emulator = await startTold();
    await emulator.snapshots.save("before", { token: emulator.token });
    await holdOff(emulator);
    await takeBack(emulator);
    await ask(emulator, "GET /v1/projects");
    expect(await rulesOf(emulator)).toEqual([]);
  });
}

test("a minute without anything left stays so over another state, and over a fault's delay", async () => {
  await using emulator = await startTold();
  const { token } = emulator;
  await emulator.limits.set({ token, exhaust: "minute" });
  emulator.faults.add({ path: "/v1/projects", latencyMs: 1 });
  await ask(emulator, "GET /v1/projects");
  emulator.allRead();
  await emulator.reset({ scope: "data", token });
  await ask(emulator, "GET /v1/projects");
  expect(await rulesOf(emulator)).toContain("early-retry");
});

test("a clock that is set back makes no wait longer than was told", async () => {
  await using emulator = await startTold({ clock: "2026-06-01T00:00:00Z" });
  await holdOff(emulator);
  await emulator.clock.set("2025-12-01T00:00:00Z");
  await emulator.clock.advance("61s");
  await ask(emulator, "GET /v1/projects");
  expect(await rulesOf(emulator)).toEqual([]);
});

test("a fault that goes takes with it what itself has said, and nothing else", async () => {
  await using emulator = await startTold();
  const busy = { status: 503, retryAfter: 60 };
  emulator.faults.add(
    { ...busy, path: "/v1/projects" },
    { ...busy, path: "/v1/sessions", id: "s" },
  );
  const askBoth = async () => {
    await ask(emulator, "GET /v1/sessions");
    await ask(emulator, "GET /v1/projects");
  };
  await askBoth();
  emulator.allRead();
  emulator.faults.clear({ id: "s" });
  // Those for all are not the account's own, and a call that is refused lifts nothing.
  emulator.faults.clear({ token: emulator.token });
  await failureOf(async () => emulator.faults.set([{ path: "/v1/nope", status: 500 }]));
  await askBoth();
  const { requests } = await emulator.requests.list();
  const accused = requests.filter(({ violations = [] }) => violations.length > 0);
  expect(accused.map(({ path }) => path)).toEqual(["/v1/projects"]);
});

test("what no fault has said stays without faults", async () => {
  await using emulator = await startTold();
  await emulator.limits.set({ token: emulator.token, exhaust: "minute" });
  await ask(emulator, "GET /v1/projects");
  emulator.allRead();
  emulator.faults.clear();
  await emulator.reset({ scope: "faults" });
  await ask(emulator, "GET /v1/projects");
  expect(await rulesOf(emulator)).toContain("early-retry");
});

test("what a browser asks of itself is nobody's mistake", async () => {
  await using emulator = await startTold();
  await ask(emulator, "GET /");
  await ask(emulator, "GET /favicon.ico");
  await ask(emulator, "HEAD /");
  const headers = { "access-control-request-method": "GET", origin: "http://127.0.0.1:1" };
  await ask(emulator, "OPTIONS /v1/memories", { headers });
  expect(await rulesOf(emulator)).toEqual([]);
  await ask(emulator, "GET /favicon.png");
  expect(await rulesOf(emulator)).toEqual(["unmatched"]);
});
