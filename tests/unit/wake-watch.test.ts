import { expect, test } from "bun:test";
import { realSigns, WakeWatch } from "../../daemon/sync/wake-watch.ts";
import { createDrivenWorld } from "../support/driven-world.ts";

const LOOK_MS = 1500;
const HOUR_MS = 60 * 60 * 1000;

/** A machine whose clocks and networks are set one by one. */
function machine() {
  const world = createDrivenWorld();
  const state = { networks: "eth0 10.0.0.2/24", sleptMs: 0, system: "one", copies: 0 };
  const woken: number[] = [];
  const watch = new WakeWatch({
    world,
    signs: {
      uptimeMs: () => world.monotonic() + state.sleptMs,
      networks: () => state.networks,
      system: () => state.system,
    },
    onWake: (stoodStillMs) => woken.push(stoodStillMs),
    onCopied: () => state.copies++,
  });
  watch.start();
  const look = () => world.advance(LOOK_MS);
  look();
  return { world, state, woken, watch, look };
}

test("nothing is noticed while nothing happens, and nothing runs after the end", () => {
  const { woken, watch, look, world } = machine();
  for (let at = 0; at < 100; at++) look();
  expect(woken).toEqual([]);
  watch.stop();
  expect(world.timers).toBe(0);
});

test("sleep is noticed at the next look, with how long the steady clock stood still", () => {
  const { world, state, woken, look } = machine();
  state.sleptMs += HOUR_MS;
  world.setClockBy(HOUR_MS);
  look();
  expect(woken).toEqual([HOUR_MS]);
  look();
  expect(woken.length).toBe(1);
});

test("a look that comes much too late, and a wall clock that is ahead, count as waking", () => {
  const { world, woken, look } = machine();
  world.advance(HOUR_MS);
  expect(woken).toEqual([0]);
  world.setClockBy(HOUR_MS);
  look();
  expect(woken).toEqual([0, 0]);
  world.setClockBy(-HOUR_MS);
  look();
  expect(woken).toEqual([0, 0]);
});

test("what may be a copy is one that was suspended from outside, or has another id", () => {
  const { world, state, woken, look } = machine();
  state.sleptMs += HOUR_MS;
  world.setClockBy(HOUR_MS);
  look();
  world.advance(HOUR_MS);
  state.networks = "wlan0 192.168.1.7/24";
  look();
  expect([state.copies, woken.length]).toEqual([0, 3]);
  world.setClockBy(HOUR_MS);
  look();
  expect([state.copies, woken.length]).toEqual([1, 4]);
  state.system = "two";
  look();
  look();
  expect([state.copies, woken.length]).toEqual([2, 5]);
  // It is being written.
  state.system = "";
  look();
  expect(state.copies).toBe(2);
});

test("another network is noticed when it is there, and its loss is not", () => {
  const { state, woken, look } = machine();
  state.networks = "";
  look();
  expect(woken).toEqual([]);
  state.networks = "wlan0 192.168.1.7/24";
  look();
  expect(woken).toEqual([0]);
});

test("this machine tells of its networks and how long it has been up", () => {
  expect(realSigns.uptimeMs()).toBeGreaterThan(0);
  expect(realSigns.networks()).toBe(realSigns.networks());
  expect(realSigns.networks()).not.toContain("127.0.0.1");
});
