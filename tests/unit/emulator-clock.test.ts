import { expect, test } from "bun:test";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { DrivenClock } from "../../server/emulator/time/driven-clock.ts";
import { realWorld } from "../../shared/world-real.ts";
import { ask, controlled } from "../support/emulator-calls.ts";
import { failureOf } from "../support/failure.ts";
import { connectLive } from "../support/live-client.ts";
import { waitFor } from "../support/wait-for.ts";

const NOON = "2026-01-01T12:00:00.000Z";

test("a clock that stands still is in answers, their headers and what they store", async () => {
  await using emulator = await startEmulator({ clock: NOON });
  const created = await ask(emulator, "POST /v1/memories", {
    body: { content: "x", layer: "user" },
  });
  expect(created.headers.get("date")).toBe("Thu, 01 Jan 2026 12:00:00 GMT");
  expect(((await created.json()) as { created_at: string }).created_at).toBe(NOON);
  expect(await controlled(emulator, "POST clock", { advance: "2h" })).toEqual({
    now: "2026-01-01T14:00:00.000Z",
    frozen: true,
    offset_ms: 7_200_000,
    ran: expect.any(Array),
  });
  expect(emulator.clock.read().now).toBe("2026-01-01T14:00:00.000Z");
});

test("the windows of the limits follow the clock", async () => {
  await using emulator = await startEmulator({ clock: NOON });
  await emulator.limits.set({ token: emulator.token, exhaust: "minute" });
  const refused = await ask(emulator, "GET /v1/projects");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
  await emulator.clock.advance(59_999);
  expect((await ask(emulator, "GET /v1/projects")).status).toBe(429);
  await emulator.clock.advance(1);
  expect((await ask(emulator, "GET /v1/projects")).status).toBe(200);
});

test("a clock that is set back frees a minute that is used up a minute later", async () => {
  await using emulator = await startEmulator({ clock: NOON });
  await emulator.limits.set({ token: emulator.token, exhaust: "minute" });
  await emulator.clock.set("2025-01-01T12:00:00.000Z");
  await emulator.clock.advance("1m");
  expect((await ask(emulator, "GET /v1/projects")).status).toBe(200);
});

test("a time that is refused says which times there are", async () => {
  await using emulator = await startEmulator({ clock: NOON });
  for (const set of ["9999-12-31T23:59:59Z", "1960-01-01T00:00:00Z", -1]) {
    expect(String(await failureOf(() => emulator.clock.set(set)))).toContain(
      "must be from 1970 to the end of 9998",
    );
  }
  expect(String(await failureOf(() => emulator.clock.set("noon")))).toContain("ISO 8601");
  for (const by of ["100y", "200000d", -5]) {
    expect(String(await failureOf(() => emulator.clock.advance(by)))).toContain(
      "with its unit (ms, s, m, h, d), at most a hundred years",
    );
  }
});

test("a token that expires on the way ends its socket", async () => {
  await using emulator = await startEmulator({ clock: NOON });
  const { token } = emulator.tokens.create({ expiresAt: "2026-01-01T13:00:00Z" });
  const live = await connectLive(emulator.url, token);
  expect((await ask(emulator, "GET /v1/projects", { token })).status).toBe(200);
  await emulator.clock.advance("1h");
  expect((await live.closed).code).toBe(4401);
  expect((await ask(emulator, "GET /v1/projects", { token })).status).toBe(401);
});

test("a move is over in its own time beside clients that never pause, whose requests follow it", async () => {
  await using emulator = await startEmulator({ clock: NOON, limits: "off" });
  let isOver = false;
  const answered: number[] = [];
  const write = async (name: number) => {
    while (!isOver) {
      const body = { content: "x", layer: "user", key: `k${name}` };
      answered.push((await ask(emulator, "POST /v1/memories", { body })).status);
    }
  };
  const WRITERS = 3;
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, name) => write(name)));
  const counts: number[] = [];
  for (let move = 0; move < 10; move++) {
    const before = answered.length;
    await waitFor("a write", () => answered.length > before);
    const from = answered.length;
    // The sweep is among what falls due.
    expect((await emulator.clock.advance("1h")).ran).not.toEqual([]);
    counts.push(answered.length - from);
  }
  isOver = true;
  await writing;
  expect(new Set(answered)).toEqual(new Set([200]));
  // Those alone that were under way.
  expect(Math.max(...counts)).toBeLessThanOrEqual(WRITERS);
});

test("whatever changes the data waits for a move that is asked for before it", async () => {
  await using emulator = await startEmulator({ clock: NOON });
  const seed = { user: { memories: [{ key: "k", value: "v" }] } };
  const { snapshots } = emulator;
  await emulator.seed(seed);
  await snapshots.save("kept");
  const calls = {
    reset: () => emulator.reset(),
    seed: () => emulator.seed(seed),
    import: () => emulator.import(seed),
    save: () => snapshots.save("other"),
    restore: () => snapshots.restore("kept"),
    delete: () => snapshots.delete("kept"),
  };
  for (const [name, call] of Object.entries(calls)) {
    const order: string[] = [];
    // So many things fall due on the way that any call would be over before.
    const moved = emulator.clock.advance("700h").then(() => order.push("move"));
    await Promise.all([moved, call().then(() => order.push(name))]);
    expect(order).toEqual(["move", name]);
  }
});

test("the emulator's clock is set back, frozen, resumed, and told in one word only", async () => {
  await using emulator = await startEmulator();
  expect((await emulator.clock.set("2020-05-05T00:00:00Z")).now).toStartWith("2020-05-05T");
  expect(emulator.clock.read().frozen).toBe(false);
  expect((await emulator.clock.freeze(NOON)).now).toBe(NOON);
  expect(emulator.clock.read()).toMatchObject({ now: NOON, frozen: true });
  expect((await emulator.clock.resume()).frozen).toBe(false);
  const response = await fetch(`${emulator.url}/_emulator/clock`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ freeze: true, advance: 1 }),
  });
  expect(response.status).toBe(400);
});

test("what it says of a clock that stands still repeats, however long the test takes", async () => {
  const told: unknown[] = [];
  for (let run = 0; run < 2; run++) {
    await using emulator = await startEmulator({ clock: NOON });
    const { clock } = emulator;
    told.push([
      clock.read(),
      await clock.advance("1h"),
      await clock.set("2025-12-31T12:00:00Z"),
      await clock.freeze("2026-02-01T00:00:00Z"),
    ]);
    const ms = realWorld.now();
    await waitFor("the real time", () => realWorld.now() > ms);
    told.push(clock.read());
  }
  expect(told.slice(2)).toEqual(told.slice(0, 2));
  expect(told[1]).toMatchObject({ offsetMs: 0 });
});

test("a clock that runs is as far ahead as it was moved", async () => {
  await using emulator = await startEmulator();
  expect(await emulator.clock.advance("1d")).toMatchObject({ offsetMs: 86_400_000 });
  const { now, offsetMs } = await emulator.clock.freeze();
  expect(offsetMs).toBe(86_400_000);
  expect(Date.parse(now) - realWorld.now()).toBeLessThanOrEqual(offsetMs);
});

test("a clock is frozen and resumed after the moves that are asked for before", async () => {
  await using emulator = await startEmulator();
  const { clock } = emulator;
  const calls = [clock.advance("700h"), clock.freeze(NOON), clock.advance("1h")];
  await Promise.all(calls);
  expect(clock.read()).toEqual({
    now: "2026-01-01T13:00:00.000Z",
    frozen: true,
    offsetMs: 3_600_000,
  });
  await Promise.all([clock.advance("700h"), clock.resume()]);
  expect(clock.read().frozen).toBe(false);
});

test("what falls due runs in order, each at its time, and what that begins is over", async () => {
  const clock = new DrivenClock(realWorld, 0);
  const seen: string[] = [];
  const every = (name: string, ms: number) => {
    clock.setTimer(ms, () => {
      seen.push(`${name} ${clock.now()}`);
      clock.defer(() => clock.defer(() => seen.push(`after ${name} ${clock.now()}`)));
      every(name, ms);
    });
  };
  every("two", 2);
  every("three", 3);
  clock.setTimer(1, () => seen.push("never")).cancel();
  expect(await clock.advance(5)).toEqual([2, 3, 4]);
  expect(seen).toEqual([
    "two 2",
    "after two 2",
    "three 3",
    "after three 3",
    "two 4",
    "after two 4",
  ]);
  expect(clock.now()).toBe(5);
});

test("with a seed and a clock that stands still the first test has the bytes of the next", async () => {
  const seed = { projects: [{ id: "proj_a", name: "a", memories: [{ key: "k", value: "v" }] }] };
  await using emulator = await startEmulator({ clock: NOON, random: 1, seed });
  const bytes = async () => {
    emulator.faults.add({ path: "/v1/sessions", malformed: true });
    const { token } = emulator.tokens.create();
    const body = { content: "x", layer: "user" };
    const answers = [
      await ask(emulator, "GET /v1/memories?project_id=proj_a"),
      await ask(emulator, "POST /v1/memories", { body }),
      await ask(emulator, "POST /v1/projects/proj_a/sync", { body: { memories: [] } }),
      await ask(emulator, "GET /v1/memories", { token }),
      await ask(emulator, "GET /v1/sessions"),
      await ask(emulator, "GET /v1/nothing"),
    ];
    const told = answers.map(async (each) => [[...each.headers], await each.text()]);
    return [token, ...(await Promise.all(told))];
  };
  const first = await bytes();
  for (let round = 0; round < 2; round++) {
    await emulator.reset();
    await emulator.seed(seed);
    expect(await bytes()).toEqual(first);
  }
});

test("a clock that runs fires its timers by itself, and one that was frozen when it resumes", async () => {
  const clock = new DrivenClock(realWorld);
  await new Promise<void>((resolve) => clock.setTimer(1, resolve));
  await clock.freeze();
  const fired = new Promise<void>((resolve) => clock.setTimer(1, resolve));
  expect(await Promise.race([fired, Promise.resolve("frozen")])).toBe("frozen");
  await clock.resume();
  expect(await fired).toBeUndefined();
});

test("a leap of years runs what falls due at its end, once, where there is too much of it", async () => {
  const clock = new DrivenClock(realWorld, 0);
  let runs = 0;
  const again = () =>
    clock.setTimer(1, () => {
      runs += 1;
      again();
    });
  again();
  expect((await clock.advance(1_000_000)).at(-1)).toBe(1_000_000);
  expect(runs).toBe(201);
});
