import { expect, test } from "bun:test";
import type { OwnQuota, Quota } from "../../server/limits/quota.ts";
import { PING_INTERVAL_MS } from "../../server/live/live-session.ts";
import { LiveSockets } from "../../server/live/live-sockets.ts";
import type { Caller, LiveChange } from "../../server/services/services.ts";
import { LIVE_PROJECTS_MAX } from "../../shared/wire/live.ts";
import { CALLERS, fakeAuthenticate, OTHER_PROJECT, PROJECT } from "../support/fake-services.ts";
import { errorOf, startServer, type TestServer } from "../support/http-server.ts";
import { connectLive } from "../support/live-client.ts";
import { shakeHands } from "../support/live-handshake.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { waitFor } from "../support/wait-for.ts";

const live = ({ listener }: TestServer, token = "write") => connectLive(listener.url, token);

const subscribe = (...projectIds: readonly string[]) =>
  JSON.stringify({ type: "subscribe", project_ids: projectIds });

function change(changes: Partial<LiveChange>): LiveChange {
  const update = new Uint8Array([1, 2]);
  return {
    document: "project",
    projectId: PROJECT,
    user: null,
    epoch: "e",
    seq: 8,
    update,
    ...changes,
  };
}

const globalChange = (seq: number) => change({ document: "global", projectId: null, seq });

test("a subscription is answered with positions by name", async () => {
  await using server = await startServer();
  using client = await live(server);
  client.send(subscribe(PROJECT));
  expect(await client.next()).toEqual({
    type: "subscribed",
    positions: { [PROJECT]: { epoch: "e", seq: 7 }, global: { epoch: "", seq: 0 } },
  });
  expect(server.fake.calls).toEqual([["live.positions", [PROJECT]]]);
});

test("a commit is told to those who subscribed, with its update", async () => {
  await using server = await startServer();
  using client = await live(server);
  client.send(subscribe(PROJECT));
  await client.next();
  server.fake.commit(change({ projectId: OTHER_PROJECT }));
  server.fake.commit(change({ seq: 9 }));
  expect(await client.next()).toEqual({
    type: "changed",
    project_id: PROJECT,
    document: "project",
    epoch: "e",
    seq: 9,
    update: "AQI=",
  });
});

test("a subscription adds to those before it", async () => {
  await using server = await startServer();
  using client = await live(server);
  client.send(subscribe(PROJECT));
  client.send(subscribe(OTHER_PROJECT));
  await client.next();
  await client.next();
  server.fake.commit(change({ seq: 1 }));
  server.fake.commit(change({ projectId: OTHER_PROJECT, seq: 2 }));
  expect(await client.next()).toMatchObject({ project_id: PROJECT, seq: 1 });
  expect(await client.next()).toMatchObject({ project_id: OTHER_PROJECT, seq: 2 });
});

test("user and global come unasked, and another user's never", async () => {
  await using server = await startServer();
  using client = await live(server);
  const userChange = { document: "user", projectId: null } as const;
  server.fake.commit(change({ ...userChange, user: CALLERS.colleague.user, seq: 1 }));
  server.fake.commit(change({ ...userChange, user: CALLERS.write.user, seq: 2 }));
  server.fake.commit(globalChange(3));
  expect(await client.next()).toMatchObject({ document: "user", project_id: null, seq: 2 });
  expect(await client.next()).toMatchObject({ document: "global", project_id: null, seq: 3 });
});

test("a token bound to projects hears of those alone", async () => {
  await using server = await startServer();
  using client = await live(server, "bound");
  client.send(subscribe(PROJECT, OTHER_PROJECT));
  await client.next();
  expect(server.fake.calls).toEqual([["live.positions", [PROJECT]]]);
  server.fake.commit(globalChange(1));
  server.fake.commit(change({ document: "user", projectId: null, user: CALLERS.bound.user }));
  server.fake.commit(change({ projectId: OTHER_PROJECT }));
  server.fake.commit(change({ seq: 9 }));
  expect(await client.next()).toMatchObject({ project_id: PROJECT, seq: 9 });
});

test("a large update is left out", async () => {
  await using server = await startServer();
  using client = await live(server);
  server.fake.commit({ ...globalChange(1), update: new Uint8Array(16 * 1024) });
  server.fake.commit({ ...globalChange(2), update: new Uint8Array(16 * 1024 + 1) });
  expect(await client.next()).toHaveProperty("update");
  expect(await client.next()).not.toHaveProperty("update");
});

test("a commit between a subscription and its answer is told after the answer", async () => {
  await using server = await startServer();
  using client = await live(server);
  server.fake.on("live.positions", async () => {
    server.fake.commit(change({ seq: 8 }));
    return [{ document: "project", projectId: PROJECT, user: null, epoch: "e", seq: 7 }];
  });
  client.send(subscribe(PROJECT));
  expect(await client.next()).toMatchObject({ type: "subscribed" });
  expect(await client.next()).toMatchObject({ type: "changed", seq: 8 });
});

test.each(["nonsense", "{}", '{"type":"subscribe","project_ids":["a b"]}'])(
  "the frame %j closes with 1008",
  async (frame) => {
    await using server = await startServer();
    using client = await live(server);
    client.send(frame);
    expect((await client.closed).code).toBe(1008);
  },
);

test("a binary frame closes with 1008", async () => {
  await using server = await startServer();
  using client = await live(server);
  client.send(new Uint8Array([1]));
  expect((await client.closed).code).toBe(1008);
});

test("more projects than a socket may have close it with 1008", async () => {
  await using server = await startServer();
  using client = await live(server);
  const ids = Array.from({ length: LIVE_PROJECTS_MAX }, (_, index) => `proj_${index}`);
  client.send(subscribe(...ids));
  await client.next();
  client.send(subscribe("proj_one_more"));
  expect((await client.closed).code).toBe(1008);
});

test("a frame over the limit closes the socket and nothing else", async () => {
  await using server = await startServer();
  using client = await live(server);
  client.send(subscribe("x".repeat(200_000)));
  expect((await client.closed).code).toBeGreaterThan(1000);
  expect((await server.send("GET", "/healthz")).status).toBe(200);
});

test("positions that can't be read close with 1011 and are logged", async () => {
  await using server = await startServer();
  using client = await live(server);
  server.fake.on("live.positions", () => Promise.reject(new Error("no database")));
  client.send(subscribe(PROJECT));
  expect((await client.closed).code).toBe(1011);
  expect(server.errors).toMatchObject([{ error: "no database" }]);
});

test("a socket that closes stops listening", async () => {
  await using server = await startServer();
  const client = await live(server);
  expect(server.fake.listeners()).toBe(1);
  client[Symbol.dispose]();
  await client.closed;
  while (server.fake.listeners() > 0) await server.send("GET", "/healthz");
});

test("a handshake without a valid token is 401, and at another path 404", async () => {
  await using server = await startServer();
  const handshake = (path: string, token: string) =>
    server.send("GET", path, {
      token,
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      },
    });
  const unauthorized = await handshake("/api/live", "");
  expect(unauthorized.status).toBe(401);
  expect((await errorOf(unauthorized)).code).toBe("unauthorized");
  expect((await handshake("/v1/live", "")).status).toBe(401);
  expect((await handshake("/v1/live", "write")).status).toBe(404);
  expect((await handshake("/v1/memories", "write")).status).toBe(404);
});

test("a handshake that is refused is not charged", async () => {
  let charged = 0;
  let left = 2;
  const quota: OwnQuota = {
    exhausted: () => (left === 0 ? 7 : undefined),
    headers: () => ({ RateLimit: `"minute";r=${left};t=7` }),
    charge() {
      charged += 1;
      left -= 1;
      return { headers: quota.headers(), retryAfterSeconds: undefined };
    },
  };
  const sockets = new LiveSockets({ total: 1, perAccount: 1 });
  await using server = await startServer({ sockets, quotaOf: () => quota });
  const ask = (changes = {}) => shakeHands(server.listener.url, "write", changes);
  expect((await ask({ "Sec-WebSocket-Key": "short" })).status).toBe(400);
  expect(charged).toBe(0);
  using client = await live(server);
  expect(charged).toBe(1);
  const full = await ask();
  expect([full.status, full.headers.get("retry-after")]).toEqual([429, "60"]);
  expect(full.headers.get("ratelimit")).toBe('"minute";r=1;t=7');
  expect(charged).toBe(1);
  client[Symbol.dispose]();
  await client.closed;
  left = 0;
  const used = await ask({ "Sec-WebSocket-Key": "short" });
  expect([used.status, used.headers.get("retry-after")]).toEqual([429, "7"]);
  expect(charged).toBe(1);
});

test("handshakes that are charged at the same time keep to the limits of sockets", async () => {
  let chargeAll = () => {};
  const charged = new Promise<void>((resolve) => {
    chargeAll = resolve;
  });
  let waiting = 0;
  const quota: Quota = {
    exhausted: () => undefined,
    headers: () => ({}),
    async charge() {
      waiting += 1;
      await charged;
      return { headers: {}, retryAfterSeconds: undefined };
    },
  };
  const sockets = new LiveSockets({ total: 10, perAccount: 2 });
  await using server = await startServer({ sockets, quotaOf: () => quota });
  const asked = Array.from({ length: 5 }, () => shakeHands(server.listener.url, "write"));
  let refused = 0;
  for (const each of asked) void each.then(({ status }) => (refused += status === 429 ? 1 : 0));
  await waitFor("all to be charged or refused", () => waiting + refused === 5);
  chargeAll();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([101, 101, 429, 429, 429]);
});

test("a handshake from a page of another site is 403", async () => {
  await using server = await startServer({ loopbackOnly: true });
  const headers = { Connection: "Upgrade", Upgrade: "websocket", Origin: "https://evil.example" };
  expect((await server.send("GET", "/api/live", { headers })).status).toBe(403);
});

test("a plain request at the live path is 400", async () => {
  await using server = await startServer();
  expect((await server.send("GET", "/api/live")).status).toBe(400);
});

test("a token that is no longer valid closes with 4401 at the next ping", async () => {
  const { world, fire } = manualTimers();
  let revoked = false;
  const authenticate = (header: string | null): Caller | undefined =>
    revoked ? undefined : fakeAuthenticate(header);
  await using server = await startServer({ world, authenticate });
  using client = await live(server);
  server.fake.commit(globalChange(1));
  expect(await client.next()).toMatchObject({ seq: 1 });
  revoked = true;
  fire(PING_INTERVAL_MS);
  expect((await client.closed).code).toBe(4401);
});

test("a stopping server closes its sockets with 1001", async () => {
  const server = await startServer();
  using client = await live(server);
  await server.listener.close();
  expect((await client.closed).code).toBe(1001);
  expect(server.fake.listeners()).toBe(0);
});
