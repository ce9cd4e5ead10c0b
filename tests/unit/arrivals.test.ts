import { expect, test } from "bun:test";
import { Arrivals } from "../../server/http/arrivals.ts";

/** A loop whose turns are run by hand; what is deferred in a turn runs in the next. */
function steppedLoop() {
  let now = 1000;
  let deferred: (() => void)[] = [];
  const arrivals = new Arrivals({
    monotonic: () => now,
    defer: (callback) => void deferred.push(callback),
  });
  let worked = 0;
  /** A request that takes a millisecond. */
  const begin = () => {
    worked += 1;
    now += 1;
  };
  return {
    arrivals,
    pass: (ms: number) => {
      now += ms;
    },
    come() {
      const waits = arrivals.come();
      if (waits) return void waits.then(begin);
      begin();
    },
    /** How many requests this turn has begun. */
    async turn(): Promise<number> {
      const before = worked;
      const due = deferred;
      deferred = [];
      for (const callback of due) {
        callback();
        // What follows from it runs before the next one, as in the loop.
        for (let at = 0; at < 3; at++) await Promise.resolve();
      }
      return worked - before;
    },
    begun: () => worked,
    pending: () => deferred.length,
  };
}

test("a request that comes alone begins at once, however seldom one comes", async () => {
  const loop = steppedLoop();
  for (let at = 1; at <= 5; at++) {
    loop.come();
    expect(loop.begun()).toBe(at);
    await loop.turn();
    loop.pass(50);
  }
  expect(loop.pending()).toBe(0);
});

test("of a hundred that come at once few begin in a turn, in order, and none is left", async () => {
  const loop = steppedLoop();
  for (let at = 0; at < 100; at++) loop.come();
  expect(loop.begun()).toBeLessThan(5);
  let turns = 0;
  while (loop.begun() < 100) {
    expect(await loop.turn()).toBeLessThan(5);
    expect(++turns).toBeLessThan(60);
  }
  expect(turns).toBeGreaterThan(20);
  await loop.turn();
  expect(loop.pending()).toBe(0);
  loop.pass(50);
  loop.come();
  expect(loop.begun()).toBe(101);
});

test("who comes while others wait comes after them", async () => {
  const loop = steppedLoop();
  for (let at = 0; at < 10; at++) loop.come();
  await loop.turn();
  let isBegun = false;
  void loop.arrivals.come()?.then(() => {
    isBegun = true;
  });
  expect(loop.begun()).toBeLessThan(10);
  while (!isBegun) await loop.turn();
  expect(loop.begun()).toBe(10);
});
