import { afterEach, expect, test } from "bun:test";
import { budgetsIn } from "../../daemon/budget/budget-store.ts";
import { RequestBudget } from "../../daemon/budget/request-budget.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { createCalls } from "../../daemon/service/http-service.ts";
import { silentLog } from "../../shared/log.ts";
import { createDrivenWorld } from "../support/driven-world.ts";

const BASE = "http://localhost";
const SECOND_MS = 1000;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function home() {
  const world = createDrivenWorld();
  const replica = await openReplica(":memory:", world);
  ends.push(() => replica.close());
  let commits = 0;
  const kept = budgetsIn(replica);
  const store: typeof kept = {
    read: kept.read,
    async write(account, record) {
      commits += 1;
      await kept.write(account, record);
    },
  };
  const open = async () => {
    const budget = new RequestBudget("account", world);
    await budget.keepIn(store, silentLog);
    return budget;
  };
  return { world, open, commits: () => commits };
}

/** Lets what is being written get there. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

test("a daemon that is killed and started in a loop spends no more than one that runs on", async () => {
  const { world, open } = await home();
  let spent = 0;
  for (let start = 0; start < 40; start++) {
    const budget = await open();
    world.advance(SECOND_MS);
    while (budget.notBefore("change") === 0 && spent < 500) {
      budget.began("change");
      budget.sent();
      spent += 1;
      if (spent % 3 === 0) break;
    }
  }
  expect(spent).toBeLessThanOrEqual(50 + 5);
});

test("an orderly end keeps what is left exactly", async () => {
  const { open } = await home();
  const budget = await open();
  for (let at = 0; at < 5; at++) budget.sent();
  await budget.close();
  const again = await open();
  expect(again.view().quotas.map(({ remaining }) => remaining)).toEqual([55, 9995]);
});

test("only one call in a few brings a commit along, and none where nothing is limited", async () => {
  const { world, open, commits } = await home();
  const budget = await open();
  const before = commits();
  for (let at = 0; at < 40; at++) {
    budget.sent();
    world.advance(SECOND_MS);
    await settle();
  }
  expect(commits() - before).toBeLessThanOrEqual(10);
  budget.unlimited();
  await settle();
  const unlimited = commits();
  for (let at = 0; at < 40; at++) budget.sent();
  await settle();
  expect(commits()).toBe(unlimited);
});

test("a budget that can't be kept stops no call", async () => {
  const world = createDrivenWorld();
  const budget = new RequestBudget("account", world);
  const store = {
    read: () => Promise.resolve(undefined),
    write: () => Promise.reject(new Error("the disk is full")),
  };
  await budget.keepIn(store, silentLog);
  for (let at = 0; at < 30; at++) {
    budget.sent();
    await settle();
    world.advance(SECOND_MS);
  }
  expect(budget.notBefore("change")).toBe(0);
});

test("sleep counts as time that has passed", async () => {
  const { open, world } = await home();
  const budget = await open();
  budget.refused(60_000);
  expect(budget.notBefore("person")).toBeGreaterThan(world.monotonic());
  budget.slept(60_000);
  expect(budget.notBefore("person")).toBe(0);
});

test("every request counts, and its answer tells; a person is told when there is no room", async () => {
  const world = createDrivenWorld();
  const budget = new RequestBudget("account", world);
  const answers = [
    new Response("{}", {
      headers: { RateLimit: '"minute";r=1;t=9', "RateLimit-Policy": '"minute";q=60;w=60' },
    }),
    new Response("{}", { status: 429, headers: { "Retry-After": "30" } }),
  ];
  const send = () => Promise.resolve(answers.shift() ?? Response.error());
  const calls = createCalls({ send, base: BASE, token: "token", world, budget });
  await calls.forward("GET", "/api/projects/stats");
  expect(budget.view()).toMatchObject({ told: true, quotas: [{ name: "minute", remaining: 1 }] });
  const refused = await calls.forward("GET", "/api/projects/stats");
  expect(refused).toMatchObject({ kind: "busy", retryAfterMs: 30_000 });
  const untold = await calls.forward("GET", "/api/projects/stats");
  expect(untold).toMatchObject({ kind: "busy", message: expect.stringContaining("30 seconds") });
  expect(answers).toEqual([]);
});

test("a person is told of a pause as such, and of used-up requests where they are counted", async () => {
  const { world, open } = await home();
  const budget = await open();
  const send = async () => {
    return new Response("{}", { status: 503, headers: { "retry-after": "600" } });
  };
  const { forward } = createCalls({ send, base: BASE, token: "t", world, budget });
  expect(await forward("GET", "/v1/memories")).toMatchObject({ kind: "busy", isPause: true });
  const paused = "the service asked for a pause, and is asked again in 600 seconds";
  expect(await forward("GET", "/v1/memories")).toMatchObject({ kind: "busy", message: paused });
  world.advance(600 * SECOND_MS);
  for (let at = 0; at < 60; at++) budget.sent();
  const used = expect.stringContaining("the account's requests are used up; there are more in");
  expect(await forward("GET", "/v1/memories")).toMatchObject({ kind: "busy", message: used });
});
