import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Emulator } from "../../server/emulator/start-emulator.ts";
import type { TestHooks } from "../../server/testing/test-hooks.ts";
import { useMemsync } from "../../server/testing/use-memsync.ts";

const SEED = { user: { memories: [{ key: "editor", value: "vim" }] } };
const NOON = "2026-01-01T12:00:00Z";

async function remember(key: string, content = "x"): Promise<number> {
  const { status } = await fetch(`${process.env.MEMSYNC_URL}/v1/memories`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${process.env.MEMSYNC_TOKEN}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ layer: "user", key, content }),
  });
  return status;
}

async function keysOf(memsync: Emulator): Promise<(string | undefined)[]> {
  const { user } = await memsync.export();
  return (user?.memories ?? []).map(({ key }) => key);
}

describe("by the runner's own hooks", () => {
  const memsync = useMemsync({ seed: SEED, clock: NOON, random: 7, reset: "each" });

  for (const round of ["first", "second"]) {
    test(`the ${round} test finds what the seed says, and nothing else`, async () => {
      expect(await keysOf(memsync)).toEqual(["editor"]);
      expect(memsync.clock.read()).toMatchObject({ now: "2026-01-01T12:00:00.000Z", frozen: true });
      expect(memsync.faults.list()).toEqual([]);
      expect((await memsync.requests.list()).requests).toEqual([]);
      expect(await remember("left")).toBe(200);
      expect(await keysOf(memsync)).toEqual(["editor", "left"]);
      memsync.faults.add({ path: "/v1/memories", status: 503 });
      await memsync.clock.advance("1d");
      await memsync.limits.set({ token: memsync.token, exhaust: "day" });
    });
  }
});

describe("without a reset", () => {
  const memsync = useMemsync({ reset: "never" });

  test("a test leaves a memory", async () => {
    expect(await remember("left")).toBe(200);
  });

  test("the next test finds it", async () => {
    expect(await keysOf(memsync)).toEqual(["left"]);
  });
});

describe("a seed in a folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-seed-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "seed.json"), JSON.stringify(SEED));
  const memsync = useMemsync({ seed: folder });

  for (const round of ["first", "second"]) {
    test(`the ${round} test finds what is in it`, async () => {
      expect(await keysOf(memsync)).toEqual(["editor"]);
      expect(await remember("left")).toBe(200);
    });
  }
});

describe("a clock that runs", () => {
  const memsync = useMemsync();

  test("a test moves a clock that runs", async () => {
    await memsync.clock.advance("1d");
    await memsync.clock.freeze();
    expect(memsync.clock.read().offsetMs).toBeGreaterThan(86_000_000);
  });

  test("the next test has the real time, and moves without waiting for it", () => {
    const { frozen, offsetMs } = memsync.clock.read();
    expect(frozen).toBe(false);
    expect(Math.abs(offsetMs)).toBeLessThan(100);
    // So many things fall due on the way that it is under way when the next test begins.
    void memsync.clock.advance("700h");
  });

  test("the test after it has the real time, too", () => {
    const { frozen, offsetMs } = memsync.clock.read();
    expect(frozen).toBe(false);
    expect(Math.abs(offsetMs)).toBeLessThan(100);
  });
});

/** Hooks that are run by hand. */
class HeldHooks implements TestHooks {
  readonly #work: Record<keyof TestHooks, (() => Promise<void>)[]> = {
    beforeAll: [],
    afterAll: [],
    beforeEach: [],
  };
  readonly beforeAll = (work: () => Promise<void>) => this.#work.beforeAll.push(work);
  readonly afterAll = (work: () => Promise<void>) => this.#work.afterAll.push(work);
  readonly beforeEach = (work: () => Promise<void>) => this.#work.beforeEach.push(work);

  async run(name: keyof TestHooks): Promise<void> {
    for (const work of this.#work[name]) await work();
  }
}

test("the variables of `useMemsync` are set while tests run, and are what they were afterwards", async () => {
  const hooks = new HeldHooks();
  const { MEMSYNC_URL: before } = process.env;
  process.env.MEMSYNC_TOKEN = "mst_of_the_developer";
  try {
    const memsync = useMemsync({ hooks });
    await hooks.run("beforeAll");
    expect(process.env.MEMSYNC_URL).toBe(memsync.url);
    expect(process.env.MEMSYNC_TOKEN).toBe("mst_dev_pro");
    await hooks.run("afterAll");
    expect(process.env.MEMSYNC_URL).toBe(before);
    expect(process.env.MEMSYNC_TOKEN).toBe("mst_of_the_developer");
  } finally {
    delete process.env.MEMSYNC_TOKEN;
  }
});

test("a token made before a test is taken back with the rest, unless nothing is", async () => {
  for (const [reset, expected] of [
    ["each", 401],
    ["never", 200],
  ] as const) {
    const hooks = new HeldHooks();
    const memsync = useMemsync({ hooks, reset });
    await hooks.run("beforeAll");
    const headers = { Authorization: `Bearer ${memsync.tokens.create().token}` };
    await hooks.run("beforeEach");
    const { status } = await fetch(`${memsync.url}/v1/memories`, { headers });
    await hooks.run("afterAll");
    expect([reset, status]).toEqual([reset, expected]);
  }
});

test("`useMemsync` says so if it is used before the tests, or after", async () => {
  const hooks = new HeldHooks();
  const memsync = useMemsync({ hooks });
  const early = "memsync.url: it runs only while tests do";
  expect(() => memsync.url).toThrow(early);
  // Whoever waits for it, or prints it, does not use it.
  expect(await memsync).toBe(memsync);
  await hooks.run("beforeAll");
  expect(memsync.url).toStartWith("http://127.0.0.1:");
  await hooks.run("afterAll");
  expect(() => memsync.url).toThrow(early);
});

test("what could not start leaves the variables alone, and says why", async () => {
  const hooks = new HeldHooks();
  useMemsync({ hooks, port: -1 });
  const { MEMSYNC_URL: before } = process.env;
  await expect(hooks.run("beforeAll")).rejects.toThrow();
  await hooks.run("afterAll");
  expect(process.env.MEMSYNC_URL).toBe(before);
});
