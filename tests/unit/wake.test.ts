import { expect, test } from "bun:test";
import { Fleet } from "../trust/budget/fleet.ts";

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;

/** Two machines at work, and then nothing comes through their sockets. */
async function stalledFleet(): Promise<Fleet> {
  const fleet = new Fleet({ seed: 3, machines: 2, sockets: true, beginsAt: 9 * HOUR_MS });
  await fleet.begin();
  await fleet.drive(() => {
    fleet.work(60 * SECOND_MS);
    fleet.runFor(30 * SECOND_MS);
    expect(fleet.arrivals.delays.length).toBeGreaterThan(0);
    fleet.stallSockets();
    fleet.runFor(60 * SECOND_MS);
  });
  return fleet;
}

test("a machine that wakes is in step within two seconds, and pays for what it asks", async () => {
  const fleet = await stalledFleet();
  expect(fleet.arrivals.missing()).toBeGreaterThan(0);
  const before = fleet.requests.charged.length;
  await fleet.drive(() => {
    for (const { engine } of fleet.machines) void engine.woke(0);
    fleet.runFor(2 * SECOND_MS);
  });
  expect(fleet.arrivals.missing()).toBe(0);
  expect(fleet.requests.charged.length - before).toBeLessThanOrEqual(6);
  await fleet.end();
});
