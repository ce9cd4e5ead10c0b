import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import type { LogFields } from "../../shared/log.ts";
import { silentLog } from "../../shared/log.ts";
import { countRequests, PRO, TEAM } from "../support/counted-requests.ts";
import { caller } from "../support/test-services.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

async function askTimes(
  requests: Awaited<ReturnType<typeof countRequests>>,
  times: number,
  by = PRO,
): Promise<number[]> {
  const answers: number[] = [];
  for (let asked = 0; asked < times; asked++) answers.push(await requests.ask(by));
  return answers;
}

const charged = (answers: readonly number[]) => answers.filter((each) => each === 0).length;

/** The most of these times that lie in any 60 seconds. */
function mostInAMinute(times: readonly number[]): number {
  let first = 0;
  let most = 0;
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? time) <= time - MINUTE_MS) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

describe("the minute", () => {
  test("the minute takes exactly what the plan allows", async () => {
    await using requests = await countRequests();
    expect(charged(await askTimes(requests, 100))).toBe(60);
    const team = caller({ account: "acct_team", plan: "team" });
    expect(charged(await askTimes(requests, 200, team))).toBe(120);
  });

  test("the minute frees each request 60 seconds after it was made, and says so", async () => {
    await using requests = await countRequests();
    await askTimes(requests, 30);
    requests.world.advance(20_500);
    await askTimes(requests, 30);
    expect(await requests.ask()).toBe(40);
    requests.world.advance(39_499);
    expect(await requests.ask()).toBe(1);
    requests.world.advance(1);
    expect(charged(await askTimes(requests, 60))).toBe(30);
    expect(await requests.ask()).toBe(21);
  });

  test("the minute is the account's, whichever its user or token", async () => {
    await using requests = await countRequests();
    await askTimes(requests, 60);
    expect(await requests.ask(caller({ user: "user_2", tokenId: "token_2" }))).toBe(60);
    expect(await requests.ask(caller({ account: "acct_other" }))).toBe(0);
  });

  test("the minute keeps what was used when the plan changes", async () => {
    await using requests = await countRequests();
    await askTimes(requests, 60);
    expect(charged(await askTimes(requests, 200, TEAM))).toBe(60);
    expect(await requests.ask(PRO)).toBe(60);
    requests.world.advance(MINUTE_MS);
    expect(charged(await askTimes(requests, 200))).toBe(60);
  });
});

describe("what is refused after its charge", () => {
  test("a request that is refused after its charge counts in no window, nor after a restart", async () => {
    await using requests = await countRequests();
    await askTimes(requests, 30);
    const refuse = await requests.askToRefuse();
    requests.world.advance(SECOND_MS);
    await askTimes(requests, 29);
    expect(await requests.ask()).toBe(59);
    expect(refuse().RateLimit).toContain('"minute";r=1;');
    expect(await requests.used()).toEqual([59, 59]);
    await requests.restart();
    expect(await requests.used()).toEqual([59, 59]);
    expect(charged(await askTimes(requests, 10))).toBe(1);
    requests.world.advance(59 * SECOND_MS);
    expect(charged(await askTimes(requests, 60))).toBe(30);
  });

  test("a refusal takes nothing back of a later day or minute", async () => {
    await using requests = await countRequests();
    const refuse = await requests.askToRefuse();
    requests.world.advance(DAY_MS);
    await askTimes(requests, 3);
    refuse();
    expect(await requests.used()).toEqual([3, 3]);
  });

  test("a refusal is taken back where nothing limits, too", async () => {
    await using requests = await countRequests();
    const limits = new RequestLimits(requests.world);
    const quota = await limits.quotaOf(PRO);
    const [first, second] = [quota.charge(), quota.charge()];
    expect(first.refund?.()).toEqual({});
    const used = async () => (await limits.read(PRO)).minute.used;
    expect(await used()).toBe(1);
    requests.world.advance(2 * MINUTE_MS);
    quota.charge();
    await second.refund?.();
    expect(await used()).toBe(1);
  });
});

describe("the day", () => {
  test("the day takes exactly what the plan allows and begins anew at 00:00 UTC", async () => {
    await using requests = await countRequests();
    requests.world.advance(9 * 60 * MINUTE_MS + 1);
    let taken = 0;
    for (let minutes = 0; minutes < 200; minutes++) {
      taken += charged(await askTimes(requests, 60));
      requests.world.advance(MINUTE_MS);
    }
    expect(taken).toBe(10_000);
    const wait = await requests.ask();
    const left = DAY_MS - (requests.world.now() % DAY_MS);
    expect(wait).toBe(Math.ceil(left / SECOND_MS));
    requests.world.advance(left - 1);
    expect(await requests.ask()).toBe(1);
    requests.world.advance(1);
    expect(await requests.ask()).toBe(0);
    expect(await requests.used()).toEqual([1, 1]);
  });
});

describe("the headers", () => {
  test("the headers are in the published form", async () => {
    await using requests = await countRequests();
    requests.world.advance(DAY_MS / 2);
    expect(await requests.headers()).toEqual({
      "RateLimit-Policy": '"minute";q=60;w=60, "day";q=10000;w=86400',
      RateLimit: '"minute";r=60;t=0, "day";r=10000;t=43200',
    });
    await askTimes(requests, 10);
    requests.world.advance(1);
    expect((await requests.headers()).RateLimit).toBe('"minute";r=50;t=60, "day";r=9990;t=43200');
    expect((await requests.headers(TEAM))["RateLimit-Policy"]).toBe(
      '"minute";q=120;w=60, "day";q=50000;w=86400',
    );
  });
});

/** What may happen to a server and its clock. */
const EVENT = fc.oneof(
  { weight: 6, arbitrary: fc.record({ ask: fc.integer({ min: 1, max: 90 }) }) },
  { weight: 6, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 70_000 }) }) },
  { weight: 1, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: DAY_MS }) }) },
  { weight: 2, arbitrary: fc.constant("restart" as const) },
);

test("whatever happens, no 60 seconds and no day hold more than the plan allows", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(EVENT, { maxLength: 40 }), async (events) => {
      await using requests = await countRequests();
      const { world } = requests;
      const times: number[] = [];
      for (const event of events) {
        if (event === "restart") await requests.restart();
        else if ("pass" in event) world.advance(event.pass);
        else {
          const used = times.filter((time) => time > world.now() - MINUTE_MS).length;
          const answers = await askTimes(requests, event.ask);
          // Exactly what is left is given, not one more and not one less.
          expect(charged(answers)).toBe(Math.min(event.ask, 60 - used));
          times.push(...answers.filter((wait) => wait === 0).map(() => world.now()));
          await expectTruth(requests, answers.at(-1) ?? 0, times);
        }
      }
      expect(mostInAMinute(times)).toBeLessThanOrEqual(60);
    }),
    { numRuns: 60 },
  );
});

/** Asked again after the wait it succeeds; a second earlier it does not. */
async function expectTruth(
  requests: Awaited<ReturnType<typeof countRequests>>,
  wait: number,
  times: number[],
): Promise<void> {
  if (wait === 0) return;
  const { world } = requests;
  world.advance((wait - 1) * SECOND_MS);
  const early = await requests.ask();
  expect(early).toBeGreaterThan(0);
  world.advance(SECOND_MS);
  expect(await requests.ask()).toBe(0);
  times.push(world.now());
}

test("a clock that is set back never opens more", async () => {
  const jump = fc.integer({ min: 1, max: 3 * DAY_MS });
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 40_000 }), jump), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(steps, async (each) => {
      await using requests = await countRequests();
      const { world } = requests;
      const times: number[] = [];
      for (const [passed, back] of each) {
        world.advance(passed);
        const answers = await askTimes(requests, 70);
        times.push(...answers.filter((wait) => wait === 0).map(() => world.monotonic()));
        const [, before] = await requests.used();
        world.setClockBy(-back);
        expect((await requests.used())[1]).toBe(before);
        if (back % 2 === 0) await requests.restart();
      }
      expect(mostInAMinute(times)).toBeLessThanOrEqual(60);
    }),
    { numRuns: 60 },
  );
});

test("a clock that is set back makes nobody wait longer than a minute", async () => {
  await using requests = await countRequests();
  await askTimes(requests, 60);
  requests.world.setClockBy(-60 * MINUTE_MS);
  expect(await requests.ask()).toBe(60);
  requests.world.advance(MINUTE_MS);
  expect(await requests.ask()).toBe(0);
});

test("a clock that goes back and forth over midnight opens no day twice", async () => {
  await using requests = await countRequests();
  await askTimes(requests, 60);
  for (let times = 0; times < 3; times++) {
    requests.world.setClockBy(-SECOND_MS);
    await requests.headers();
    requests.world.setClockBy(SECOND_MS);
    expect(await requests.used()).toEqual([60, 60]);
  }
});

test("a clock that was far ahead once locks nobody out", async () => {
  await using requests = await countRequests();
  requests.world.setClockBy(365 * DAY_MS);
  await askTimes(requests, 60);
  requests.world.setClockBy(-365 * DAY_MS);
  await requests.restart();
  requests.world.advance(DAY_MS / 2);
  expect(await requests.ask()).toBe(60);
  requests.world.advance(MINUTE_MS);
  expect(await requests.ask()).toBe(0);
  expect(await requests.used()).toEqual([1, 61]);
  requests.world.advance(DAY_MS);
  expect(await requests.used()).toEqual([0, 0]);
});

describe("what is kept", () => {
  test("what is kept is exact after an orderly restart", async () => {
    await using requests = await countRequests();
    await askTimes(requests, 25);
    requests.world.advance(30_000);
    await askTimes(requests, 10);
    await requests.restart();
    expect(await requests.used()).toEqual([35, 35]);
    requests.world.advance(30_000);
    expect(await requests.used()).toEqual([10, 35]);
  });

  test("what is kept lacks the last second at most after a crash", async () => {
    await using requests = await countRequests();
    await askTimes(requests, 20);
    requests.world.advance(999);
    await askTimes(requests, 5);
    requests.world.advance(1);
    await requests.written();
    await askTimes(requests, 7);
    requests.crash();
    expect(await requests.used()).toEqual([25, 25]);
  });

  test("what is kept is not written while nothing changes, nor by what is refused", async () => {
    await using requests = await countRequests();
    await askTimes(requests, 60);
    requests.world.advance(SECOND_MS);
    await requests.written();
    await askTimes(requests, 30);
    await requests.headers();
    expect(requests.world.timers).toBe(0);
  });

  test("what is kept is written later when it could not be, and that is logged", async () => {
    const warnings: LogFields[] = [];
    const log = { ...silentLog, warn: (fields: LogFields) => void warnings.push(fields) };
    await using requests = await countRequests(log);
    const { writer } = requests.database;
    await askTimes(requests, 3);
    await writer.schema.alterTable("request_counts").renameTo("elsewhere").execute();
    requests.world.advance(SECOND_MS);
    while (warnings.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await writer.schema.alterTable("elsewhere").renameTo("request_counts").execute();
    requests.world.advance(SECOND_MS);
    await requests.written();
    requests.crash();
    expect(await requests.used()).toEqual([3, 3]);
  });

  test("what is kept goes when an account was quiet for days", async () => {
    await using requests = await countRequests();
    await requests.ask(caller({ account: "acct_quiet" }));
    await requests.restart();
    requests.world.advance(2 * DAY_MS);
    await requests.ask();
    await requests.restart();
    const rows = await requests.database.reader.selectFrom("request_counts").select("account");
    expect(await rows.execute()).toMatchObject([{ account: "acct" }]);
  });

  test("what is kept is counted once when an account's first requests come together", async () => {
    await using requests = await countRequests();
    await askTimes(requests, 50);
    await requests.restart();
    const answers = await Promise.all(Array.from({ length: 30 }, () => requests.ask()));
    expect(charged(answers)).toBe(10);
  });
});

test("accounts that are forgotten in memory come back with their counts", async () => {
  await using requests = await countRequests();
  await askTimes(requests, 60);
  requests.world.advance(SECOND_MS);
  await requests.written();
  await seeOthers(requests);
  const { reads } = requests;
  expect(await requests.ask()).toBe(59);
  expect(requests.reads).toBe(reads + 1);
});

test("an account is not forgotten before it is written", async () => {
  await using requests = await countRequests();
  await askTimes(requests, 60);
  await seeOthers(requests);
  expect(await requests.ask()).toBe(60);
});

/** More accounts than are held. */
async function seeOthers(requests: Awaited<ReturnType<typeof countRequests>>): Promise<void> {
  for (let account = 0; account < 10_050; account++) {
    await requests.headers(caller({ account: `acct_${account}` }));
  }
}
