import { expect, test } from "bun:test";
import { askSync } from "../../cli/contact/sync-progress.ts";
import { createTestWorld } from "../support/test-world.ts";

test("a long wait is asked for in parts, which end with its time or when all is decided", async () => {
  const never = Number.POSITIVE_INFINITY;
  const waited = async (seconds: number, syncedAfter = never, refusedAfter = never) => {
    const world = createTestWorld();
    const asked: number[] = [];
    const ask = async (part: number) => {
      asked.push(part);
      world.advance(part * 1000);
      return { synced: asked.length > syncedAfter, refused: asked.length > refusedAfter };
    };
    const { synced } = await askSync(ask, seconds, { world });
    return { asked, synced };
  };
  expect(await waited(200)).toEqual({ asked: [30, 30, 30, 30, 30, 30, 20], synced: false });
  expect(await waited(200, 1)).toEqual({ asked: [30, 30], synced: true });
  expect(await waited(200, never, 1)).toEqual({ asked: [30, 30], synced: false });
  expect(await waited(0)).toEqual({ asked: [0], synced: false });
});

test("whoever does not wait for a service that is away is told at once", async () => {
  const asked: boolean[] = [];
  const ask = async (_: number, unlessOffline: boolean) => {
    asked.push(unlessOffline);
    return { synced: false, refused: false, offline: true };
  };
  const world = createTestWorld();
  const gaveUp = await askSync(ask, 30, { world, onOffline: () => false });
  expect([gaveUp.offline, asked]).toEqual([true, [true]]);
  asked.length = 0;
  // Who waits is told once, and asks on.
  let told = 0;
  await askSync(ask, 30, { world, onOffline: () => ++told > 0 });
  expect([told, asked]).toEqual([1, [true, false]]);
});
