import { expect, test } from "bun:test";
import fc from "fast-check";
import { CountsWriter } from "../../server/limits/counts-writer.ts";
import type { Charge } from "../../server/limits/quota.ts";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import { type SharedCounts, SharedLimits } from "../../server/limits/shared-limits.ts";
import { dayOf, type UsageRecord } from "../../server/limits/usage.ts";
import type { AccountId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { PRO, TEAM } from "../support/counted-requests.ts";
import { caller } from "../support/test-services.ts";
import { createTestWorld, type TestWorld } from "../support/test-world.ts";

const OTHER = caller({ account: "acct_other" });

/** The counts that all servers of a test share, as a database would keep them. */
class ModelledCounts implements SharedCounts {
  readonly stored = new Map<AccountId, UsageRecord>();
  readonly held = new Set<AccountId>();
  changes = 0;
  finds = 0;
  failWith: Error | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(readonly world: TestWorld) {}

  async change(...[accounts, change]: Parameters<SharedCounts["change"]>): Promise<void> {
    const before = this.#last;
    let end = () => {};
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    this.changes += 1;
    const now = this.world.now();
    const free = accounts.filter((account) => !this.held.has(account));
    const empty = { minute: [], day: dayOf(now), inDay: 0 };
    const counts = new Map(free.map((each) => [each, this.stored.get(each) ?? empty]));
    // As after a deadlock.
    change(counts, now);
    await new Promise<void>((resolve) => this.world.defer(resolve));
    const changed = change(counts, now);
    for (const [account, record] of changed) this.stored.set(account, record);
    end();
    if (this.failWith) throw this.failWith;
  }

  async find(account: AccountId) {
    this.finds += 1;
    return { known: this.stored.get(account), now: this.world.now() };
  }
}

function start(servers: number) {
  const world = createTestWorld("shared");
  const counts = new ModelledCounts(world);
  const limits = Array.from({ length: servers }, () => new SharedLimits(counts, world));
  const at = (server: number): SharedLimits => {
    const found = limits[server % servers];
    if (!found) throw new Error("there is no server");
    return found;
  };
  const turn = () => new Promise<void>((resolve) => world.defer(resolve));
  return { world, counts, at, turn };
}

const isCharged = ({ retryAfterSeconds }: Charge) => retryAfterSeconds === undefined;

test("four servers charge together exactly what the plan allows", async () => {
  const { at, counts } = start(4);
  const ask = (asked: number) => at(asked).quotaOf(TEAM).charge();
  const charges = await Promise.all(Array.from({ length: 400 }, (_, asked) => ask(asked)));
  expect(charges.filter(isCharged)).toHaveLength(120);
  expect(new Set(charges.map((each) => each.retryAfterSeconds))).toEqual(new Set([undefined, 60]));
  expect(counts.changes).toBe(4);
  expect(await at(3).read(TEAM)).toMatchObject({ minute: { used: 120, remaining: 0 } });
});

test("servers that are asked one after another answer as one would that counts alone", async () => {
  const step = fc.record({
    server: fc.nat({ max: 3 }),
    advance: fc.oneof(fc.nat({ max: 3000 }), fc.nat({ max: 90_000_000 })),
    asked: fc.nat({ max: 40 }),
    refund: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { world, at } = start(4);
      const store = { find: async () => undefined, write: async () => {} };
      const alone = new RequestLimits(world, new CountsWriter(store, world, silentLog));
      for (const { server, advance, asked, refund } of steps) {
        world.advance(advance);
        for (let each = 0; each < asked; each++) {
          const expected = (await alone.quotaOf(PRO)).charge();
          const charge = await at(server + each)
            .quotaOf(PRO)
            .charge();
          expect(charge).toMatchObject({
            headers: expected.headers,
            retryAfterSeconds: expected.retryAfterSeconds,
          });
          if (refund) expect(await charge.refund?.()).toEqual(await expected.refund?.());
        }
      }
    }),
    { numRuns: 40 },
  );
});

test("who goes on asking with nothing left is refused without a transaction, for a second", async () => {
  const { world, at, counts } = start(2);
  for (let asked = 0; asked < 60; asked++) await at(0).quotaOf(PRO).charge();
  expect((await at(0).quotaOf(PRO).charge()).retryAfterSeconds).toBe(60);
  const before = counts.changes;
  world.advance(999);
  const refused = await at(0).quotaOf(PRO).charge();
  expect(refused.retryAfterSeconds).toBe(60);
  expect(refused.headers.RateLimit).toContain('"minute";r=0;t=60');
  expect(await at(0).quotaOf(PRO).exhausted()).toBe(60);
  expect(counts.changes).toBe(before);
  world.advance(1);
  await at(0).quotaOf(PRO).charge();
  expect(counts.changes).toBe(before + 1);
  expect(await at(1).quotaOf(OTHER).exhausted()).toBeUndefined();
});

test("a refusal that was seen less than a second ago is none once its wait is over", async () => {
  const { world, at } = start(1);
  for (let asked = 0; asked < 60; asked++) await at(0).quotaOf(PRO).charge();
  world.advance(59_500);
  expect(await at(0).quotaOf(PRO).exhausted()).toBe(1);
  world.advance(500);
  expect(await at(0).quotaOf(PRO).exhausted()).toBeUndefined();
  expect(isCharged(await at(0).quotaOf(PRO).charge())).toBe(true);
});

test("an account that another server holds keeps no other from its charge, and is refused after five seconds", async () => {
  const { world, at, counts, turn } = start(1);
  counts.held.add(PRO.account);
  let refusal: unknown;
  const held = Promise.resolve(at(0).quotaOf(PRO).charge()).catch((thrown) => {
    refusal = thrown;
  });
  expect(isCharged(await at(0).quotaOf(OTHER).charge())).toBe(true);
  for (let waited = 0; waited < 5000; waited += 32) {
    world.advance(32);
    for (let turns = 0; turns < 6; turns++) await turn();
    if (waited < 4900) expect(refusal).toBeUndefined();
  }
  await held;
  expect(refusal).toMatchObject({ code: "rate_limited", retryAfterSeconds: 1 });
  counts.held.clear();
  expect(isCharged(await at(0).quotaOf(PRO).charge())).toBe(true);
  expect((await at(0).read(PRO)).minute.used).toBe(1);
});

test("a charge whose outcome is unknown is refused, and not made again", async () => {
  const { at, counts } = start(2);
  counts.failWith = new Error("the connection was lost");
  await expect(Promise.resolve(at(0).quotaOf(PRO).charge())).rejects.toThrow("was lost");
  counts.failWith = undefined;
  expect((await at(1).read(PRO)).minute.used).toBe(1);
});

test("a database whose clock goes back a little frees nothing sooner, and by much locks nobody out", async () => {
  const { world, at } = start(2);
  for (let asked = 0; asked < 60; asked++) await at(asked).quotaOf(PRO).charge();
  world.setWallClock(-300);
  world.advance(59_999);
  expect(isCharged(await at(0).quotaOf(PRO).charge())).toBe(false);
  world.advance(301);
  expect(isCharged(await at(1).quotaOf(PRO).charge())).toBe(true);
  world.setWallClock(-7_200_000);
  world.advance(60_000);
  expect(isCharged(await at(1).quotaOf(PRO).charge())).toBe(true);
});
