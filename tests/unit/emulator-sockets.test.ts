import { expect, test } from "bun:test";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { ask, control, controlled } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { connectLive } from "../support/live-client.ts";

const timeoutMs = 60_000;
const subscribe = JSON.stringify({ type: "subscribe", project_ids: ["proj_a"] });

test("a live socket is in the journal with its frames, and with how it ended", async () => {
  await using emulator = await startEmulator({ clock: "2026-01-01T00:00:00Z" });
  await ask(emulator, "POST /api/projects", { body: { id: "proj_a", name: "a" } });
  const live = await connectLive(emulator.url, "mst_dev_pro");
  live.send(subscribe);
  await emulator.requests.waitFor({ frame: "subscribed", timeoutMs });
  await emulator.clock.advance("1s");
  await ask(emulator, "POST /v1/memories", { body: { content: "x", layer: "user" } });
  const [seen] = await emulator.requests.waitFor({ frame: "changed", timeoutMs });
  expect(seen).toMatchObject({ method: "GET", path: "/api/live", status: 101 });
  expect(seen).not.toHaveProperty("closed");
  expect(seen?.frames).toEqual([
    {
      from: "client",
      at: "2026-01-01T00:00:00.000Z",
      body: JSON.parse(subscribe),
      bytes: subscribe.length,
    },
    {
      from: "server",
      at: "2026-01-01T00:00:00.000Z",
      body: expect.objectContaining({ type: "subscribed" }),
      bytes: expect.any(Number),
    },
    {
      from: "server",
      at: "2026-01-01T00:00:01.000Z",
      body: expect.objectContaining({ type: "changed", document: "user" }),
      bytes: expect.any(Number),
    },
  ]);
  live.send("nonsense");
  const [ended] = await emulator.requests.waitFor({ closeCode: 1008, timeoutMs });
  expect(ended?.frames?.at(-1)).toMatchObject({ from: "client", body: "nonsense" });
  expect(ended?.closed).toMatchObject({ code: 1008, by: "server" });
  const told = await controlled<{ requests: object[] }>(emulator, "GET requests?close_code=1008");
  expect(told.requests[0]).toMatchObject({ closed: { code: 1008, by: "server" } });
});

test("a client that closes its socket is told from a server that does", async () => {
  await using emulator = await startEmulator();
  const headers = { authorization: "Bearer mst_dev_pro" };
  const socket = new WebSocket(`${emulator.url.replace("http", "ws")}/api/live`, { headers });
  socket.onopen = () => socket.close(4000, "enough");
  const [seen] = await emulator.requests.waitFor({ closeCode: 4000, timeoutMs });
  expect(seen?.closed).toMatchObject({ by: "client", reason: "enough" });
  const { token } = emulator.tokens.create({ account: "x", expiresAt: Date.now() + 60_000 });
  await connectLive(emulator.url, token);
  await emulator.clock.advance("2m");
  const [expired] = await emulator.requests.waitFor({ closeCode: 4401, timeoutMs });
  expect(expired?.closed?.by).toBe("server");
});

test("a number of frames of a type is waited for, of one account, and what came is told", async () => {
  await using emulator = await startEmulator();
  for (const token of ["mst_dev_a", "mst_dev_b"]) {
    const live = await connectLive(emulator.url, token);
    live.send(subscribe);
  }
  await emulator.requests.waitFor({ frame: "subscribed", count: 2, timeoutMs });
  const token = "mst_dev_a";
  const waiting = control(emulator, "GET requests?frame=changed&min=2&wait_ms=60000");
  for (const key of ["x", "y"]) {
    await ask(emulator, "POST /v1/memories", { token, body: { key, content: key, layer: "user" } });
  }
  const { requests } = (await (await waiting).json()) as { requests: { token: string }[] };
  expect(requests.map((each) => each.token)).toEqual([token]);
  const failed = await failureOf(() =>
    emulator.requests.waitFor({ token: "mst_dev_b", frame: "changed", timeoutMs: 1 }),
  );
  expect(String(failed)).toContain("0 of 1 frames came");
  expect(String(failed)).toContain("there were: GET /api/live 101");
});

test("frames are without tokens, bounded, and the oldest go first", async () => {
  await using emulator = await startEmulator();
  const { token } = emulator.tokens.create();
  const live = await connectLive(emulator.url, token);
  live.send(JSON.stringify({ type: "subscribe", project_ids: [], note: token }));
  const [first] = await emulator.requests.waitFor({ frame: "subscribe", timeoutMs });
  expect(JSON.stringify(first)).not.toContain(token);
  const long = JSON.stringify({ type: "subscribe", project_ids: [], note: "x".repeat(5000) });
  for (let at = 0; at < 150; at++) {
    live.send(long);
    await live.next();
  }
  await live.next();
  const [seen] = (await emulator.requests.list({ frame: "subscribe" })).requests;
  expect([seen?.frames?.length, seen?.framesDropped]).toEqual([200, 102]);
  const cut = seen?.frames?.find(({ from }) => from === "client");
  expect([cut?.truncated, cut?.bytes, String(cut?.body).length]).toEqual([true, long.length, 4096]);
});

test("an open socket is there again after its journal was cleared, by its next frame", async () => {
  await using emulator = await startEmulator();
  const live = await connectLive(emulator.url, "mst_dev_pro");
  live.send(subscribe);
  await emulator.requests.waitFor({ frame: "subscribed", timeoutMs });
  expect(emulator.requests.clear()).toBe(1);
  expect((await emulator.requests.list()).requests).toEqual([]);
  live.send(subscribe);
  const [seen] = await emulator.requests.waitFor({ frame: "subscribed", timeoutMs });
  expect(seen?.frames?.map(({ from }) => from)).toEqual(["client", "server"]);
  await emulator.reset();
  expect((await live.closed).code).toBe(1001);
  expect((await emulator.requests.list()).requests).toEqual([]);
});

test("whoever looks on is told what changed since, and of a clearing everything", async () => {
  await using emulator = await startEmulator();
  type Told = { requests: { path: string; serial: number }[]; next: string; whole?: true };
  const changes = (after: string, wait = "") =>
    controlled<Told>(emulator, `GET requests?after=${after}${wait}`);
  const begun = await changes("");
  expect(begun).toMatchObject({ requests: [], whole: true });
  const waiting = changes(begun.next, "&wait_ms=60000");
  await ask(emulator, "GET /v1/projects");
  const came = await waiting;
  expect(came.requests.map(({ path, serial }) => [path, serial])).toEqual([["/v1/projects", 1]]);
  expect(came).not.toHaveProperty("whole");
  const [seen] = (await emulator.requests.waitFor({ status: 200, timeoutMs })) as [object];
  expect(seen).toMatchObject({ serial: 1 });
  const { next } = await changes(came.next);
  expect(await changes(next)).toMatchObject({ requests: [], next });
  await ask(emulator, "GET /v1/sessions");
  emulator.requests.clear({ token: "mst_dev_other" });
  const all = await changes(next);
  expect(all).toMatchObject({ whole: true, requests: [{ serial: 1 }, { serial: 2 }] });
  expect((await changes("another.7")).whole).toBe(true);
  const moves: readonly (() => unknown)[] = [
    () => emulator.clock.advance("1s"),
    () => emulator.faults.add({ status: 503 }),
    () => emulator.faults.clear(),
    () => emulator.snapshots.save("one"),
    () => emulator.snapshots.delete("one"),
    () => emulator.reset({ scope: "limits" }),
  ];
  for (const move of moves) {
    const { next: before } = await changes("");
    await move();
    expect((await changes(before, "&wait_ms=60000")).next).not.toBe(before);
  }
});
