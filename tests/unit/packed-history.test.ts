import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import fc from "fast-check";
import { packRevisions, unpackRevisions } from "../../shared/replica/history/revision-pack.ts";
import { HISTORY, listRevisions } from "../../shared/replica/history/revisions.ts";
import { CorruptDocumentError } from "../../shared/replica/log/corrupt-document-error.ts";
import { findDamagedPart } from "../../shared/replica/log/find-damaged-part.ts";
import { connect } from "../../shared/sqlite/connect-bun.ts";
import { failureOf } from "../support/failure.ts";
import { PastValues, youngOf } from "../support/past-values.ts";
import { address, inspect, setMemory } from "../support/stored.ts";
import { createTempStore, type TempStore, type TempStoreOptions } from "../support/temp-store.ts";
import { watched } from "../support/watched-connection.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(120_000);

const DAY_MS = 24 * 60 * 60 * 1000;
const opened: TempStore[] = [];

async function newStore(options: TempStoreOptions = {}): Promise<TempStore> {
  const temp = await createTempStore(options);
  opened.push(temp);
  return temp;
}

afterEach(async () => {
  for (const temp of opened.splice(0)) await temp.remove();
});

async function revisionsOf(temp: TempStore, key = "k", kind: "memory" | "text" = "memory") {
  return await listRevisions(temp.store.reader, await documentId(temp), { kind, key });
}

const documentId = (temp: TempStore) => inspect(temp.store, ({ id }) => id);

/** Overwrites a key so often; each value is a note with one line more. */
async function overwrite(
  temp: TempStore,
  key: string,
  count: number,
  line = "line",
): Promise<void> {
  for (let at = 0; at < count; at++) {
    temp.world.advance(1000);
    const lines = Array.from({ length: 20 }, (_, index) => `${line} ${Math.min(at, index)}`);
    await setMemory(temp.store, key, `${lines.join("\n")}\n${key} ${at}\n`);
  }
}

/** A sweep a day, for so many days. */
async function sweepFor(temp: TempStore, days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    temp.world.advance(DAY_MS);
    await temp.store.sweep();
  }
}

async function stored({ store }: TempStore, key?: string) {
  const rows = await store.reader.selectFrom("revisions").select("key").execute();
  const packs = await store.reader.selectFrom("revision_packs").selectAll().orderBy("id").execute();
  const isOf = (each: { readonly key: string }) => key === undefined || each.key === key;
  return { rows: rows.filter(isOf), packs: packs.filter(isOf) };
}

describe("a pack", () => {
  const pastValue = fc.record({
    value: fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc
        .array(fc.constantFrom("a\n", "\r\n", "\ufeff", "\0", "é", "😀", '{"x":[1]}'), {
          maxLength: 200,
        })
        .map((parts) => parts.join("")),
    ),
    writtenAt: fc.maxSafeNat(),
    replacedAt: fc.nat(2 ** 42),
    machine: fc.option(fc.constantFrom("laptop", "desk\ntop", "", "é"), { nil: undefined }),
  });

  test("a pack gives back every value with its times and its machine", () => {
    fc.assert(
      fc.property(fc.array(pastValue, { maxLength: 120 }), (revisions) => {
        const pack = packRevisions(revisions);
        expect(pack.count).toBe(revisions.length);
        expect(unpackRevisions(pack)).toEqual(revisions);
      }),
      { numRuns: 300 },
    );
  });

  test("a pack is never made of what it would not give back", () => {
    const lone = { value: "\ud800", writtenAt: 1, replacedAt: 2, machine: undefined };
    expect(() => packRevisions([lone])).toThrow("gives back what went in");
  });

  test("a pack is not read when a bit of it has changed", () => {
    const of = (value: string) => ({ value, writtenAt: 1, replacedAt: 2, machine: undefined });
    const pack = packRevisions([of("one"), of("two")]);
    for (let at = 0; at < pack.payload.length; at++) {
      const payload = pack.payload.map((byte, index) => (index === at ? byte ^ 1 : byte));
      expect(() => unpackRevisions({ ...pack, payload })).toThrow("what was written");
    }
  });
});

describe("a sweep", () => {
  test("packs what has gathered, and a few rows only with more of them", async () => {
    const temp = await newStore({ machine: "laptop" });
    await overwrite(temp, "often", 31);
    await overwrite(temp, "seldom", 3);
    const before = [await revisionsOf(temp, "often"), await revisionsOf(temp, "seldom")];
    await temp.store.sweep();
    expect(await stored(temp, "often")).toMatchObject({ rows: [], packs: [{ count: 30 }] });
    expect(await stored(temp, "seldom")).toMatchObject({ rows: [{}, {}], packs: [] });
    expect([await revisionsOf(temp, "often"), await revisionsOf(temp, "seldom")]).toEqual(before);
    const bytes = before[0]?.reduce((total, { value }) => total + value.length, 0) ?? 0;
    const [pack] = (await stored(temp, "often")).packs;
    expect(pack?.payload.length).toBeLessThan(bytes / 10);
    await overwrite(temp, "often", 3, "new");
    await temp.store.sweep();
    expect(await stored(temp, "often")).toMatchObject({
      rows: [{}, {}, {}],
      packs: [{ count: 30 }],
    });
    await overwrite(temp, "often", 1, "newer");
    await temp.store.sweep();
    expect(await stored(temp, "often")).toMatchObject({ rows: [], packs: [{ count: 34 }] });
    expect((await revisionsOf(temp, "often")).slice(4)).toEqual(before[0] ?? []);
  });

  test("a sweep keeps the newest 100 of a key that is in a pack and in rows", async () => {
    const temp = await newStore();
    await overwrite(temp, "k", 91);
    await temp.store.sweep();
    await overwrite(temp, "k", 50, "later");
    const hundred = await revisionsOf(temp);
    expect(hundred).toHaveLength(HISTORY.revisionsPerKey);
    expect(hundred[99]?.value).toContain("k 40\n");
    await temp.store.sweep();
    expect(await revisionsOf(temp)).toEqual(hundred);
    expect(await stored(temp)).toMatchObject({ rows: [], packs: [{ count: 100 }] });
    await overwrite(temp, "k", 130, "last");
    await temp.store.sweep();
    expect(await stored(temp)).toMatchObject({ rows: [], packs: [{ count: 100 }] });
    expect((await revisionsOf(temp)).every(({ value }) => value.startsWith("last"))).toBe(true);
  });

  test("bounds what it packs at once, and drops a pack when nothing of it is kept", async () => {
    const temp = await newStore();
    const page = "x".repeat(100_000);
    const write = async (from: number, count: number) => {
      for (let at = from; at < from + count; at++) {
        await setMemory(temp.store, "k", `${at} ${page} ${at}`);
      }
    };
    await write(0, 61);
    const before = await revisionsOf(temp);
    await temp.store.sweep();
    const { packs, rows } = await stored(temp);
    expect(packs.length).toBeGreaterThan(4);
    expect(rows.length + packs.reduce((total, { count }) => total + count, 0)).toBe(60);
    for (const { bytes } of packs) expect(bytes).toBeLessThan(1_300_000);
    expect(await revisionsOf(temp)).toEqual(before);
    await write(61, 60);
    await temp.store.sweep();
    const values = (await revisionsOf(temp)).map(({ value }) => Number.parseInt(value, 10));
    expect(values).toEqual(Array.from({ length: 100 }, (_, at) => 119 - at));
    const left = await stored(temp);
    const kept = left.packs.slice(1).reduce((total, { count }) => total + count, 0);
    expect(kept + left.rows.length).toBeLessThan(100);
  });

  test("a sweep drops what is older than 90 days out of a pack, and nothing else", async () => {
    const temp = await newStore();
    for (let at = 0; at <= 8; at++) {
      await setMemory(temp.store, "k", `value ${at}`);
      temp.world.advance(10 * DAY_MS);
    }
    await temp.store.sweep();
    const all = await revisionsOf(temp);
    expect(all).toHaveLength(8);
    // The first was written over 80 days ago.
    await sweepFor(temp, 10);
    expect(await revisionsOf(temp)).toEqual(all);
    // And the second 90 days ago, now.
    await sweepFor(temp, 10);
    expect(await revisionsOf(temp)).toEqual(all.slice(0, 7));
    temp.world.advance(1);
    await temp.store.sweep();
    expect(await revisionsOf(temp)).toEqual(all.slice(0, 6));
    await sweepFor(temp, 60);
    expect(await stored(temp)).toEqual({ rows: [], packs: [] });
  });
});

describe("what is packed", () => {
  test("what is packed is a version of a text, or a value of its key alone", async () => {
    const temp = await newStore();
    const setText = (content: string) =>
      temp.store.write(async (context) => {
        return (await context.open(address())).document.setContent(content, context.now);
      });
    for (let at = 0; at < 6; at++) await setText(`line ${at}\n`);
    await overwrite(temp, "k", 6);
    await temp.store.sweep();
    expect((await stored(temp)).rows).toEqual([]);
    const id = await documentId(temp);
    const valuesOf = async (kind: "memory" | "text", key: string) =>
      (await listRevisions(temp.store.reader, id, { kind, key })).map(({ value }) => value);
    expect(await valuesOf("text", "")).toContain("line 0\n");
    expect(await valuesOf("text", "")).not.toContain("line 5\n");
    const [latest] = await revisionsOf(temp);
    const value = latest?.value ?? "";
    expect(await valuesOf("text", "")).not.toContain(value);
    expect(await valuesOf("memory", "k")).toContain(value);
    expect(await valuesOf("memory", "")).not.toContain(value);
  });

  test("what is packed and damaged is told of, and keeps no sweep from the rest of its work", async () => {
    const temp = await newStore();
    for (const key of ["broken", "sound"]) await overwrite(temp, key, 20);
    await temp.store.sweep();
    const sound = await revisionsOf(temp, "sound");
    await spoilPack(temp, "broken");
    for (const key of ["broken", "sound"]) await overwrite(temp, key, 10, "later");
    const failure = await failureOf(() => temp.store.sweep());
    expect(failure).toBeInstanceOf(CorruptDocumentError);
    expect(String(failure)).toContain("document 1 is damaged in its history");
    expect(await failureOf(() => revisionsOf(temp, "broken"))).toBeInstanceOf(CorruptDocumentError);
    expect((await revisionsOf(temp, "sound")).slice(10)).toEqual(sound);
    expect(await stored(temp, "sound")).toMatchObject({ rows: [], packs: [{ count: 29 }] });
    expect((await stored(temp, "broken")).rows).toHaveLength(10);
    await overwrite(temp, "broken", 1, "written all the same");
    const connection = connect(temp.path, { readonly: true });
    expect(findDamagedPart(connection)).toMatch(
      /^document 1 is damaged at pack of its history \d$/,
    );
    connection.close();
  });
});

async function spoilPack({ database: { writer } }: TempStore, key: string): Promise<void> {
  const of = writer.selectFrom("revision_packs").select("payload").where("key", "=", key);
  const { payload } = await of.executeTakeFirstOrThrow();
  const spoiled = payload.map((byte, at) => (at === 20 ? byte ^ 4 : byte));
  const update = writer.updateTable("revision_packs").set({ payload: spoiled });
  await update.where("key", "=", key).execute();
}

/** A process that ends before a statement, and leaves the file as the disk has it then. */
class Crash extends Error {}

/** A store whose sweeps can be made to end in a crash. */
class CrashingStore {
  #statementsLeft = Number.POSITIVE_INFINITY;
  #left: readonly string[] = [];

  private constructor(
    readonly temp: TempStore,
    readonly indexesLater: boolean,
  ) {}

  static async create(indexesLater: boolean): Promise<CrashingStore> {
    const store = new CrashingStore(await newStore(), indexesLater);
    await store.temp.reopen(store.#options());
    return store;
  }

  /** Resolves to whether the sweep came to its end first. */
  async sweep(statements: number): Promise<boolean> {
    this.#statementsLeft = statements;
    const ended = await this.temp.store.sweep().then(
      () => true,
      () => false,
    );
    this.#statementsLeft = Number.POSITIVE_INFINITY;
    if (ended || this.#left.length === 0) return ended;
    await this.temp.store.close();
    for (const part of ["", "-wal", "-shm"]) rmSync(`${this.temp.path}${part}`, { force: true });
    for (const part of this.#left) copyFileSync(`${part}.left`, part);
    await this.temp.restart(this.#options());
    this.#left = [];
    return false;
  }

  #options(): TempStoreOptions {
    return {
      indexesLater: this.indexesLater,
      wrap: (connection) =>
        watched(connection, () => {
          if (--this.#statementsLeft > 0) return;
          if (this.#left.length === 0) this.#left = this.#copy();
          throw new Crash();
        }),
    };
  }

  #copy(): readonly string[] {
    const parts = ["", "-wal"].map((part) => `${this.temp.path}${part}`);
    const there = parts.filter((part) => existsSync(part));
    for (const part of there) copyFileSync(part, `${part}.left`);
    return there;
  }
}

const KEYS = ["one", "two"] as const;
const anyKey = fc.constantFrom(...KEYS);
const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("write"), key: anyKey, of: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("burst"), key: anyKey, of: fc.nat(70) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("large"), key: anyKey, of: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete"), key: anyKey, of: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("days"), key: anyKey, of: fc.nat(60) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("sweep"), key: anyKey, of: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("crash"), key: anyKey, of: fc.nat(60) }) },
);
type AnyStep = typeof anyStep extends fc.Arbitrary<infer Step> ? Step : never;

/** Random work on a store, beside what its history would be if nothing were ever packed. */
class Comparison {
  readonly #past = new PastValues();
  #written = 0;

  constructor(readonly store: CrashingStore) {}

  async take({ kind, key, of }: AnyStep): Promise<void> {
    const { temp } = this.store;
    if (kind === "write") await this.#write(key, `value ${of}`);
    if (kind === "burst") await this.#burst(key, of, "a line that stays\n".repeat(of));
    if (kind === "large") await this.#burst(key, of, "a long line that stays ".repeat(2500));
    if (kind === "delete") await this.#delete(key);
    if (kind === "days") temp.world.advance(of * DAY_MS);
    if (kind === "crash") await this.#crash(1 + of);
    if (kind === "sweep") await this.#sweep();
    await this.expectEqual();
  }

  async #burst(key: string, count: number, page: string): Promise<void> {
    for (let at = 0; at < count; at++) await this.#write(key, `${page}${++this.#written}`);
  }

  async #write(key: string, value: string): Promise<void> {
    const { temp } = this.store;
    temp.world.advance(1);
    await setMemory(temp.store, key, value);
    this.#past.change(key, value, temp.world.now());
  }

  async #delete(key: string): Promise<void> {
    const { temp } = this.store;
    await temp.store.write(async (context) => {
      (await context.open(address())).document.deleteEntry("memories", key);
    });
    this.#past.change(key, undefined, temp.world.now());
  }

  /** Nothing that is young is gone, and nothing is there that was not. */
  async #crash(statements: number): Promise<void> {
    await this.store.sweep(statements);
    const { temp } = this.store;
    for (const key of KEYS) {
      const left = await pastOf(temp, key);
      expect(youngOf(left, temp.world.now())).toEqual(
        youngOf(this.#past.of(key), temp.world.now()) as never,
      );
      expect(this.#past.of(key)).toEqual(expect.arrayContaining(left));
    }
    await this.#sweep();
  }

  async #sweep(): Promise<void> {
    const { temp } = this.store;
    expect(await this.store.sweep(Number.POSITIVE_INFINITY)).toBe(true);
    // A clock that has leapt is believed a day later.
    await sweepFor(temp, 1);
    this.#past.sweep(temp.world.now());
    const { rows, packs } = await stored(temp);
    expect(rows.length).toBeLessThan(4 * KEYS.length);
    const oldest = Math.min(...packs.map(({ oldest_at }) => oldest_at));
    expect(temp.world.now() - oldest).toBeLessThanOrEqual(HISTORY.ageMs);
    for (const key of KEYS) {
      const [, ...newer] = packs.filter((pack) => pack.key === key).map(({ count }) => count);
      const beside = newer.reduce((total, count) => total + count, 0);
      expect(beside).toBeLessThan(HISTORY.revisionsPerKey);
    }
  }

  async expectEqual(): Promise<void> {
    for (const key of KEYS) {
      const past = this.#past.of(key);
      expect(past.length).toBeLessThanOrEqual(HISTORY.revisionsPerKey);
      expect(await pastOf(this.store.temp, key)).toEqual([...past]);
    }
  }
}

async function pastOf(temp: TempStore, key: string) {
  const revisions = await revisionsOf(temp, key);
  return revisions.map(({ value, writtenAt, replacedAt }) => ({ value, writtenAt, replacedAt }));
}

test.each([false, true])(
  "writes, deletions, sweeps and crashes leave the history that nothing packed would have, filed later: %p",
  async (indexesLater) => {
    const property = fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
      const comparison = new Comparison(await CrashingStore.create(indexesLater));
      for (const step of steps) await comparison.take(step);
      for (const temp of opened.splice(0)) await temp.remove();
    });
    await fc.assert(property, { numRuns: 80 });
  },
);
