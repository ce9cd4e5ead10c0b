import { afterEach, beforeEach, expect, test } from "bun:test";
import { recordTextConflict } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { copyMemoryHistory } from "../../shared/replica/history/copy-history.ts";
import { historyTime } from "../../shared/replica/history/history-clock.ts";
import { HISTORY, listRevisions } from "../../shared/replica/history/revisions.ts";
import { inspect, setMemory } from "../support/stored.ts";
import { createTempStore, type TempStore } from "../support/temp-store.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const YEARS_MS = 73 * 365 * DAY_MS;

let temp: TempStore;

beforeEach(async () => {
  temp = await createTempStore();
});

afterEach(() => temp.remove());

/** A sweep after so long, as the clock says. */
async function sweepAfter(ms: number): Promise<void> {
  temp.world.advance(ms);
  await temp.store.sweep();
}

async function past(): Promise<(string | undefined)[]> {
  const id = await inspect(temp.store, (open) => open.id);
  const revisions = await listRevisions(temp.store.reader, id, { kind: "memory", key: "k" });
  return revisions.map(({ value }) => value);
}

async function overwrite(...values: readonly string[]): Promise<void> {
  for (const value of values) await setMemory(temp.store, "k", value);
}

test("a clock that is years ahead for some hours drops nothing", async () => {
  await overwrite("1", "2", "3");
  await sweepAfter(HOUR_MS);
  await sweepAfter(YEARS_MS);
  for (let hour = 0; hour < 20; hour++) await sweepAfter(HOUR_MS);
  expect(await past()).toEqual(["2", "1"]);
  await sweepAfter(-YEARS_MS);
  await sweepAfter(YEARS_MS);
  await sweepAfter(HOUR_MS);
  expect(await past()).toEqual(["2", "1"]);
});

test("a machine that was off for months drops what is old a day after", async () => {
  await overwrite("1", "2");
  await sweepAfter(HOUR_MS);
  await sweepAfter(HISTORY.ageMs + DAY_MS);
  await sweepAfter(DAY_MS - 1);
  expect(await past()).toEqual(["1"]);
  await sweepAfter(1);
  expect(await past()).toEqual([]);
});

test("what is written over while the clock stands in 1970 is as old as the sweep before", async () => {
  await overwrite("1");
  await sweepAfter(HOUR_MS);
  const now = temp.world.now();
  temp.world.advance(-now);
  await overwrite("2", "3");
  await sweepAfter(HOUR_MS);
  temp.world.advance(now);
  for (let day = 1; day < 90; day++) await sweepAfter(DAY_MS);
  expect(await past()).toEqual(["2", "1"]);
  await sweepAfter(DAY_MS);
  expect(await past()).toEqual([]);
});

test("a clock that was wrong at the first sweep makes nothing younger than it is", async () => {
  temp.world.advance(YEARS_MS);
  await sweepAfter(HOUR_MS);
  temp.world.advance(-YEARS_MS);
  await overwrite("1", "2");
  const replaced = temp.world.now();
  await sweepAfter(HOUR_MS);
  await sweepAfter(DAY_MS);
  await sweepAfter(DAY_MS);
  const id = await inspect(temp.store, (open) => open.id);
  const [revision] = await listRevisions(temp.store.reader, id, { kind: "memory", key: "k" });
  expect(revision?.replacedAt).toBe(replaced);
});

test("conflicts age by the same time", async () => {
  await overwrite("1");
  await sweepAfter(HOUR_MS);
  const found = temp.world.now();
  temp.world.advance(YEARS_MS);
  const versions = (text: string) =>
    [
      { text, machine: undefined },
      { text: "other\n", machine: undefined },
    ] as const;
  await inspect(temp.store, ({ document }) => {
    recordTextConflict(document, { kind: "both", versions: versions("one\n") }, { now: found });
  });
  const time = await historyTime(temp.store.reader, temp.world.now());
  const count = await inspect(temp.store, ({ document }) => {
    recordTextConflict(
      document,
      { kind: "both", versions: versions("two\n") },
      { now: temp.world.now(), time },
    );
    return [...document.metadata.keys()].length;
  });
  expect([time, count]).toEqual([found, 2]);
});

test("a copied history is as old as the one that it was copied from", async () => {
  for (const value of ["1", "2", "3"]) {
    await overwrite(value);
    await sweepAfter(10 * DAY_MS);
  }
  const from = await inspect(temp.store, (open) => open.id);
  const to = await inspect(temp.store, (open) => open.id, "b");
  const { reader } = temp.store;
  const name = { kind: "memory", key: "k" } as const;
  const before = await listRevisions(reader, from, name);
  await temp.store.write(({ db, now }) => copyMemoryHistory(db, { from, to, now }, () => false));
  await sweepAfter(HOUR_MS);
  expect(before.map(({ value }) => value)).toEqual(["2", "1"]);
  expect(await listRevisions(reader, to, name)).toEqual(before);
});
