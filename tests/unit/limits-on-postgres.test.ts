import { expect, test } from "bun:test";
import { PLAN_LIMITS } from "../../server/limits/plans.ts";
import { sharedCounts } from "../../server/limits/shared-counts.ts";
import { type SharedCounts, SharedLimits } from "../../server/limits/shared-limits.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { TEAM } from "../support/counted-requests.ts";
import { serversOfTests } from "../support/postgres-servers.ts";
import { pick, seededRandom } from "../support/random.ts";

const SERVERS = 4;
const ROUNDS = 30;
const PAUSE_MS_MAX = 9000;
const AT_ONCE_MAX = 60;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const { minute: LIMIT } = PLAN_LIMITS.team;

/** A request that was charged at some time between these two. */
interface Charged {
  readonly asked: number;
  readonly answered: number;
}

const newDatabase = serversOfTests();

/** Servers whose clocks are a day apart, on one database; `pass` lets time go on for all. */
async function openLimits() {
  let ahead = 0;
  const servers = await newDatabase();
  const limits: SharedLimits[] = [];
  for (let at = 0; at < SERVERS; at++) {
    const world: World = {
      ...realWorld,
      now: () => realWorld.now() + at * DAY_MS,
      monotonic: () => realWorld.monotonic() + ahead,
    };
    const counts = sharedCounts((await servers.open()).database);
    const later: SharedCounts = {
      change: (accounts, change) =>
        counts.change(accounts, (known, now) => change(known, now + ahead)),
      async find(account) {
        const found = await counts.find(account);
        return { ...found, now: found.now + ahead };
      },
    };
    limits.push(new SharedLimits(later, world));
  }
  const now = () => realWorld.now() + ahead;
  const pass = (milliseconds: number) => {
    ahead += milliseconds;
  };
  return { limits, now, pass };
}

test.each([1, 2, 3])(
  "four servers whose clocks are a day apart charge no 60 seconds more than the plan, seed %d",
  async (seed) => {
    const random = seededRandom(seed);
    const { limits, now, pass } = await openLimits();
    const charged: Charged[] = [];
    let refused = 0;
    const ask = async () => {
      const asked = now();
      const charge = await pick(random, limits).quotaOf(TEAM).charge();
      if (charge.retryAfterSeconds === undefined) charged.push({ asked, answered: now() });
      else refused += 1;
    };
    for (let round = 0; round < ROUNDS; round++) {
      pass(Math.floor(random() * PAUSE_MS_MAX));
      await Promise.all(Array.from({ length: Math.floor(random() * AT_ONCE_MAX) }, ask));
    }
    const within = charged.map(({ asked: from }) => {
      const during = ({ asked, answered }: Charged) => asked >= from && answered < from + MINUTE_MS;
      return charged.filter(during).length;
    });
    expect(Math.max(...within)).toBeLessThanOrEqual(LIMIT);
    // And not much less, where more was asked for.
    expect(Math.max(...within)).toBeGreaterThan(0.9 * LIMIT);
    expect(refused).toBeGreaterThan(0);
    for (const each of limits) await each.close();
  },
);
