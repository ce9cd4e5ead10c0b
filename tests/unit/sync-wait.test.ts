import { expect, test } from "bun:test";
import { askSync, type SyncPart } from "../../cli/contact/sync-progress.ts";
import { createTestWorld } from "../support/test-world.ts";

test("a long wait is asked for in parts, which end with its time or when all is decided", async () => {
  const never = Number.POSITIVE_INFINITY;
  const waited = async (seconds: number, syncedAfter = never, refusedAfter = never) => {
    const world = createTestWorld();
    const asked: number[] = [];
    const ask = async ({ seconds: part }: SyncPart) => {
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
  const ask = async ({ unlessOffline }: SyncPart) => {
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

test("who says no time waits on while less and less is left, for one and the same sync", async () => {
  const waited = async (lefts: readonly number[]) => {
    const world = createTestWorld();
    const asked: SyncPart[] = [];
    const ask = async (part: SyncPart) => {
      asked.push(part);
      world.advance(part.seconds * 1000);
      const left = lefts[asked.length - 1] ?? 0;
      return { synced: left === 0, refused: false, left };
    };
    await askSync(ask, 30, { world, whileLess: true });
    return asked.map(({ seconds, goOn }) => [seconds, goOn]);
  };
  const [first, part] = [
    [10, false],
    [10, true],
  ];
  expect(await waited([9, 9, 9, 1])).toEqual([first, part, part]);
  expect(await waited([200, 150, 100, 60, 37, 37, 1])).toEqual([
    first,
    part,
    part,
    part,
    part,
    part,
  ]);
  expect(await waited([200, 150, 100, 60, 37, 1])).toHaveLength(7);
});
