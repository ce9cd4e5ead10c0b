import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { createApp } from "../../server/app/app.ts";
import { BodyBudget } from "../../server/http/body-budget.ts";
import { BODY_ARRIVAL_MS_MAX } from "../../server/http/body-deadline.ts";
import { asAccountId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { countRequests } from "../support/counted-requests.ts";
import { CALLERS, createFakeServices, fakeAuthenticate } from "../support/fake-services.ts";
import { errorOf, type SendOptions, startServer, undeclared } from "../support/http-server.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { connectRaw } from "../support/raw-connection.ts";
import { waitFor } from "../support/wait-for.ts";

const MIB = 1024 * 1024;
const [ANN, BOB, EVE] = ["acct_ann", "acct_bob", "acct_eve"].map(asAccountId) as [
  ReturnType<typeof asAccountId>,
  ReturnType<typeof asAccountId>,
  ReturnType<typeof asAccountId>,
];

const announced = (bytes: number) => new Headers({ "Content-Length": String(bytes) });

describe("room for bodies", () => {
  test("room for bodies is an account's, and everybody's", () => {
    const budget = new BodyBudget(realWorld);
    const first = budget.lease(ANN, announced(64 * MIB));
    expect(() => budget.lease(ANN, announced(1 * MIB))).toThrow("under way");
    budget.lease(BOB, announced(32 * MIB));
    expect(() => budget.lease(EVE, announced(1 * MIB))).toThrow("under way");
    expect([budget.bytes, budget.refused]).toEqual([96 * MIB, 2]);
    first?.release();
    first?.release();
    expect(budget.bytes).toBe(32 * MIB);
    budget.lease(EVE, announced(64 * MIB))?.release();
    expect(budget.bytes).toBe(32 * MIB);
  });

  test("a body that is given up before its turn is in nobody's way", async () => {
    const budget = new BodyBudget(realWorld);
    const [first, other, last] = [ANN, BOB, EVE].map((each) => {
      return budget.lease(each, announced(10 * MIB));
    });
    await first?.turn();
    const turn = other?.turn();
    other?.release();
    first?.release();
    await turn;
    await last?.turn();
  });

  test("room for bodies is kept for small ones, whatever large ones take", () => {
    const budget = new BodyBudget(realWorld);
    budget.lease(ANN, announced(64 * MIB));
    budget.lease(BOB, announced(32 * MIB));
    const small = 256 * 1024;
    for (let at = 0; at < 64; at++) budget.lease(ANN, announced(small));
    expect(() => budget.lease(ANN, announced(small))).toThrow("under way");
    budget.lease(EVE, announced(small));
  });

  test("room for bodies is taken as they come where their length is not known", () => {
    const budget = new BodyBudget(realWorld);
    const lease = budget.lease(ANN, new Headers({ "Transfer-Encoding": "chunked" }));
    expect(budget.bytes).toBe(64 * 1024);
    lease?.growTo(1000);
    expect(budget.bytes).toBe(64 * 1024);
    for (let mib = 1; mib <= 64; mib++) lease?.growTo(mib * MIB);
    expect(budget.bytes).toBe(64 * MIB);
    const other = budget.lease(ANN, new Headers({ "Transfer-Encoding": "chunked" }));
    expect(() => other?.growTo(MIB)).toThrow("under way");
    lease?.release();
    other?.release();
    expect(budget.bytes).toBe(0);
  });

  test("room for bodies is not taken by what has none, or more than is ever read", () => {
    const budget = new BodyBudget(realWorld);
    for (const headers of [new Headers(), announced(0), announced(65 * MIB)]) {
      expect(budget.lease(ANN, headers)).toBeUndefined();
    }
  });

  test("room for bodies is what has come of them and what that inflates to", async () => {
    const bodies = new BodyBudget(realWorld);
    await using server = await startServer({ bodies });
    bodies.lease(CALLERS.write.account, announced(60 * MIB));
    const gzip = { "Content-Encoding": "gzip" };
    const packed = (text: string) => new Uint8Array(gzipSync(text));
    const send = async (body: NonNullable<SendOptions["body"]>, headers = {}) => {
      const answer = await server.send("POST", "/api/projects/proj_a/sync", { body, headers });
      return [answer.status, answer.headers.get("retry-after")];
    };
    const [served, refused] = [
      [200, null],
      [429, "5"],
    ];
    expect(await send(packed("{}"), gzip)).toEqual(served);
    // It could inflate to 72 MB, as a gzip of this size may, and does to 100 KB.
    const random = Array.from({ length: 75_000 }, (_, at) => (at * at * 2_654_435_761) >>> 23);
    const dense = packed(`{"padding":"${Buffer.from(random).toString("base64")}"}`);
    expect(dense.length).toBeGreaterThan(64 * 1024);
    expect(await send(dense, gzip)).toEqual(served);
    const large = `{"padding":"${"x".repeat(8 * MIB)}"}`;
    expect(await send(packed(large), gzip)).toEqual(refused);
    expect(await send(undeclared(large))).toEqual(refused);
    expect(await send(undeclared("{}"))).toEqual(served);
    expect(bodies.bytes).toBe(60 * MIB);
  });
});

test("a body takes the room of what it becomes, until it is answered", async () => {
  const bodies = new BodyBudget(realWorld);
  await using server = await startServer({ bodies });
  const taken: number[] = [];
  const { sync } = server.fake.services;
  const { apply } = sync;
  server.fake.services.sync.apply = (...args: Parameters<typeof apply>) => {
    taken.push(bodies.bytes);
    return apply(...args);
  };
  const send = async (body: string) => {
    const { status } = await server.send("POST", "/v1/projects/proj_a/sync", { body });
    return [status, taken.pop()];
  };
  // Of a field that nobody knows, as of those of the interface: one array, object or comma each.
  const parts = 100_000;
  const unknown = `{"x":[${"[],".repeat(parts / 2 - 1)}[]]}`;
  expect(await send(unknown)).toEqual([200, unknown.length + 64 * (parts + 1)]);
  const memories = Array.from({ length: 1000 }, (_, at) => ({ key: `k${at}`, value: ",[{" }));
  const fields = JSON.stringify({ memories });
  expect(await send(fields)).toEqual([200, fields.length + 64 * (1 + 1 + 3 * 1000 - 1)]);
  const [status] = await send(`{"x":${unknown}`);
  expect(status).toBe(400);
  bodies.lease(CALLERS.write.account, announced(60 * MIB));
  expect(await send(unknown)).toEqual([429, undefined]);
  expect(await send("{}")).toEqual([200, 60 * MIB + 2 + 64]);
  expect([bodies.bytes, bodies.refused]).toEqual([60 * MIB, 1]);
});

test("large bodies are worked on one after another until they are answered, and small ones at once", async () => {
  const bodies = new BodyBudget(realWorld);
  const authenticate = (header: string | null) =>
    header === "Bearer other" ? { ...CALLERS.write, account: BOB } : CALLERS.write;
  await using server = await startServer({ bodies, authenticate });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const { sync } = server.fake.services;
  const { apply } = sync;
  server.fake.services.sync.apply = async (...args: Parameters<typeof apply>) => {
    const [, id] = args;
    begun.push(id);
    if (!id.startsWith("proj_small")) await new Promise<void>((end) => ends.set(id, end));
    return await apply(...args);
  };
  const send = (name: string, token: string, bytes: number) =>
    server.send("POST", `/v1/projects/proj_${name}/sync`, {
      token,
      body: `{"padding":"${"x".repeat(bytes)}"}`,
    });
  const large = 6 * MIB;
  // Its room once it has been scanned, and so waits for its turn: that of its one part is added.
  const scanned = `{"padding":"${"x".repeat(large)}"}`.length + 64;
  const first = send("a1", "write", large);
  await waitFor("the first to begin", () => begun.length === 1);
  const second = send("a2", "write", large);
  await waitFor("the second to have come", () => bodies.bytes >= 2 * scanned);
  const third = send("b1", "other", large);
  await waitFor("the third to have come", () => bodies.bytes >= 3 * scanned);
  expect((await send("small", "write", 1000)).status).toBe(200);
  expect(begun).toEqual(["proj_a1", "proj_small"]);
  for (const next of ["proj_a1", "proj_a2", "proj_b1"]) {
    await waitFor(`${next} to begin`, () => ends.has(next));
    ends.get(next)?.();
  }
  for (const answer of [first, second, third]) expect((await answer).status).toBe(200);
  expect(begun).toEqual(["proj_a1", "proj_small", "proj_a2", "proj_b1"]);
  expect(bodies.bytes).toBe(0);
});

test("of a body that does not arrive in time nothing is kept, whatever still comes of it", async () => {
  const { world, fire } = manualTimers();
  const bodies = new BodyBudget(world);
  const fake = createFakeServices();
  const deps = { services: fake.services, authenticate: fakeAuthenticate, world, log: silentLog };
  const app = createApp({ ...deps, bodies });
  for (const length of [undefined, String(8 * MIB)]) {
    const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
    let send: (chunk: Uint8Array) => void = () => {};
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        send = (chunk) => controller.enqueue(chunk);
      },
      cancel,
    });
    const headers = {
      Authorization: "Bearer write",
      ...(length === undefined ? { "Transfer-Encoding": "chunked" } : { "Content-Length": length }),
    };
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const request = new Request("http://localhost/api/projects/proj_a/sync", init);
    const answer = app.fetch(request, () => ({ address: "127.0.0.1", port: 1 }));
    send(new Uint8Array(4 * MIB).fill(32));
    await waitFor("the room to be taken", () => bodies.bytes >= 4 * MIB);
    fire(BODY_ARRIVAL_MS_MAX);
    expect((await answer).status).toBe(400);
    await cancelled;
    expect(() => send(new Uint8Array(1))).toThrow();
    expect(bodies.bytes).toBe(0);
  }
});

test("a lease that was released takes no room, which nobody would give back", () => {
  const budget = new BodyBudget(realWorld);
  const lease = budget.lease(ANN, new Headers({ "Transfer-Encoding": "chunked" }));
  lease?.release();
  lease?.growTo(MIB);
  expect(budget.bytes).toBe(0);
});

test("a large body is read whole, and what is kept of it is not given back", async () => {
  const bodies = new BodyBudget(realWorld);
  await using server = await startServer({ bodies });
  const { sync } = server.fake.services;
  const { apply } = sync;
  const hashes: (string | undefined)[] = [];
  const taken: (number | undefined)[] = [];
  server.fake.services.sync.apply = (...args: Parameters<typeof apply>) => {
    const [, , { once, payload }] = args;
    hashes.push(once?.bodyHash);
    taken.push(payload.claude_md_content?.length);
    return apply(...args);
  };
  const text = JSON.stringify({ claude_md_content: "é".repeat(500_000), x: "y".repeat(MIB) });
  const bytes = new TextEncoder().encode(text);
  const headers = { "Idempotency-Key": "one" };
  const packed = { ...headers, "Content-Encoding": "gzip" };
  const ask = async (
    body: NonNullable<SendOptions["body"]>,
    more: Readonly<Record<string, string>>,
  ) => {
    const answer = await server.send("POST", "/v1/projects/proj_a/sync", { body, headers: more });
    return answer.status;
  };
  expect(await ask(bytes, headers)).toBe(200);
  expect(await ask(new Uint8Array(gzipSync(bytes)), packed)).toBe(200);
  expect(await ask(undeclared(text), headers)).toBe(200);
  const hash = createHash("sha256").update(bytes).digest("hex");
  expect(hashes).toEqual([hash, hash, hash]);
  expect(taken).toEqual([500_000, 500_000, 500_000]);
});

test("a body without room is refused before it is charged, and others are served", async () => {
  const bodies = new BodyBudget(realWorld);
  let charged = 0;
  const charge = () => {
    charged += 1;
    return { headers: {}, retryAfterSeconds: undefined };
  };
  const quotaOf = () => ({ charge, exhausted: () => undefined, headers: () => ({}) });
  const authenticate = (header: string | null) =>
    header === "Bearer other" ? { ...CALLERS.write, account: BOB } : CALLERS.write;
  await using server = await startServer({ bodies, quotaOf, authenticate });
  using half = await connectRaw(server.listener.port ?? 0);
  const head = [
    "POST /api/projects/proj_a/sync HTTP/1.1",
    "Host: localhost",
    "Authorization: Bearer write",
    `Content-Length: ${60 * MIB}`,
  ];
  half.write(`${head.join("\r\n")}\r\n\r\n{"memories"`);
  await waitFor("the room to be taken", () => bodies.bytes === 60 * MIB);
  expect(charged).toBe(1);
  const body = `{"padding":"${"x".repeat(10 * MIB)}"}`;
  const ask = (token: string) => server.send("POST", "/api/projects/proj_a/sync", { token, body });
  const refused = await ask("write");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  expect((await errorOf(refused)).code).toBe("rate_limited");
  expect(charged).toBe(1);
  expect((await server.send("GET", "/v1/memories")).status).toBe(200);
  expect((await server.send("POST", "/v1/memories", { body: '{"content":"x"}' })).status).toBe(200);
  expect((await ask("other")).status).toBe(200);
  half[Symbol.dispose]();
  await waitFor("the room to be given back", () => bodies.bytes === 0);
  expect((await ask("write")).status).toBe(200);
  expect(bodies.bytes).toBe(0);
});

test("a body whose room runs out while it is read costs nothing, and its answer says so", async () => {
  const bodies = new BodyBudget(realWorld);
  await using requests = await countRequests();
  await using server = await startServer({ bodies, quotaOf: requests.quotaOf });
  bodies.lease(CALLERS.write.account, announced(60 * MIB));
  const ask = (text: string) =>
    server.send("POST", "/api/projects/proj_a/sync", { body: undeclared(text) });
  const served = await ask("{}");
  expect(served.status).toBe(200);
  const left = served.headers.get("ratelimit");
  const refused = await ask(`{"padding":"${"x".repeat(8 * MIB)}"}`);
  expect([refused.status, refused.headers.get("ratelimit")]).toEqual([429, left]);
  const packed = new Uint8Array(gzipSync(`{"padding":"${"x".repeat(8 * MIB)}"}`));
  const inflated = await server.send("POST", "/api/projects/proj_a/sync", {
    body: packed,
    headers: { "Content-Encoding": "gzip" },
  });
  expect([inflated.status, inflated.headers.get("ratelimit")]).toEqual([429, left]);
  expect(await requests.used(CALLERS.write)).toEqual([1, 1]);
});
