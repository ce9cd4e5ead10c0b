import { beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { settleLine } from "../../daemon/files/arrivals/told-lines.ts";
import { listToldOfFiles } from "../../daemon/reading/told-files.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const INDEX = "MEMORY.md";
const FIRST = "# Memory\n\n- [One](one.md)\n";
const HOURS_MS = 2 * 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
  a.save(INDEX, FIRST);
  await settleMemories(a, b);
  await passMinute();
});

function advance(milliseconds: number): void {
  for (const machine of [a, b]) machine.world.advance(milliseconds);
}

async function passMinute(): Promise<void> {
  advance(61_000);
  await settleMemories(a, b);
}

async function lookAround(): Promise<void> {
  for (const machine of [a, b]) await machine.keeper.look();
  await exchangeKept(a, b);
  for (const machine of [a, b]) await machine.keeper.look();
}

/** Deletes a line as a person does who sees the file. */
function take(machine: MemoryMachine, line: string): void {
  machine.save(INDEX, (machine.read(INDEX) ?? "").replace(`${line}\n`, ""));
}

function toldOf(machine: MemoryMachine): unknown[] {
  return machine.keeper.status.flatMap(({ notes }) =>
    notes.map(({ why }) => ("line" in why ? { code: why.code, line: why.line } : why)),
  );
}

/** It stands in no file, and in an older version beside the one that counts. */
async function expectDisputed(line: string): Promise<void> {
  for (const machine of [a, b]) {
    expect(machine.read(INDEX)).not.toContain(line);
    const [current, ...older] = await machine.values(INDEX);
    expect(current).not.toContain(line);
    expect(older.map((each) => each.includes(line))).toEqual([true]);
  }
}

test("who deletes a new line again and again is heard a minute after the first time, as a conflict", async () => {
  const typo = "- a typo";
  a.save(INDEX, `${a.read(INDEX)}${typo}\n`);
  await lookAround();
  expect(toldOf(a)).toEqual([]);
  advance(20_000);
  let deletions = 0;
  do {
    take(a, typo);
    deletions += 1;
    await lookAround();
    if (a.read(INDEX)?.includes(typo)) {
      expect(toldOf(a)).toEqual([{ code: "line-kept", line: typo }]);
    }
    advance(25_000);
  } while (a.read(INDEX)?.includes(typo) && deletions < 9);
  expect(deletions).toBe(4);
  await lookAround();
  await expectDisputed(typo);
  expect([...toldOf(a), ...toldOf(b)]).toEqual([]);
  // Whoever edits the index later brings nothing of it back.
  for (const machine of [b, a, b]) {
    machine.save(INDEX, `${machine.read(INDEX)}- of ${machine.name}\n`);
    await settleMemories(a, b);
    await passMinute();
  }
  await expectDisputed(typo);
  expect(a.read(INDEX)).toBe(b.read(INDEX) ?? "");
});

test("a line that no daemon has ever seen for a minute is gone with the second deletion", async () => {
  const line = "- of b";
  b.save(INDEX, `${b.read(INDEX)}${line}\n`);
  await lookAround();
  expect(a.read(INDEX)).toContain(line);
  for (const isLast of [false, true]) {
    await a.end();
    advance(HOURS_MS);
    take(a, line);
    await a.begin();
    await a.look();
    expect(a.read(INDEX)?.includes(line)).toBe(!isLast);
    expect(toldOf(a)).toEqual(isLast ? [] : [{ code: "line-kept", line }]);
  }
  await lookAround();
  await expectDisputed(line);
});

test("a line that a look has found for a minute goes at once, and without a conflict", async () => {
  const line = "- of b";
  b.save(INDEX, `${b.read(INDEX)}${line}\n`);
  await settleMemories(a, b);
  await passMinute();
  take(a, line);
  await settleMemories(a, b);
  for (const machine of [a, b]) expect(await machine.values(INDEX)).toEqual([FIRST]);
});

test("a line that a save left out and that a look found later goes with a conflict, for a day", async () => {
  for (const [line, laterMs] of [
    ["- one day", 2 * 61_000],
    ["- two days", DAY_MS + 61_000],
  ] as const) {
    const before = a.read(INDEX) ?? "";
    b.save(INDEX, `${b.read(INDEX)}${line}\n`);
    await lookAround();
    a.save(INDEX, `${before}- beside it, ${laterMs}\n`);
    await settleMemories(a, b);
    expect(toldOf(a)).toEqual([{ code: "line-kept", line }]);
    await passMinute();
    advance(laterMs);
    await settleMemories(a, b);
    const isTold = laterMs < DAY_MS;
    expect(toldOf(a)).toEqual(isTold ? [{ code: "line-kept", line }] : []);
    const versions = (await a.values(INDEX)).length;
    take(a, line);
    await settleMemories(a, b);
    expect(b.read(INDEX)).not.toContain(line);
    expect((await b.values(INDEX)).length - versions).toBe(isTold ? 1 : 0);
  }
});

test("where the folder is only read, a new line that is taken out is told, and one decision takes it out elsewhere", async () => {
  const line = "- a typo";
  a.mode = "read";
  a.save(INDEX, `${a.read(INDEX)}${line}\n`);
  await lookAround();
  expect(b.read(INDEX)).toContain(line);
  advance(15_000);
  take(a, line);
  await lookAround();
  advance(65_000);
  a.save(INDEX, `${a.read(INDEX)}- one more\n`);
  await lookAround();
  expect([a.read(INDEX)?.includes(line), b.read(INDEX)?.includes(line)]).toEqual([false, true]);
  expect(toldOf(a)).toEqual([{ code: "line-elsewhere", line }]);
  const told = await listToldOfFiles(a.store.reader, a.world.now());
  expect(told.map((each) => each.code)).toEqual(["line-elsewhere"]);
  const path = join(a.memories, INDEX);
  await a.store.write(({ db, now }) => settleLine(db, path, { line, as: "drop", at: now }));
  await a.keeper.lookAnew();
  await lookAround();
  expect([b.read(INDEX), toldOf(a)]).toEqual([a.read(INDEX), []]);
});

test("where the folder is only read, what is taken out a minute later is nowhere, and untold", async () => {
  const line = "- a note";
  a.mode = "read";
  a.save(INDEX, `${a.read(INDEX)}${line}\n`);
  await lookAround();
  advance(65_000);
  await lookAround();
  take(a, line);
  await settleMemories(a, b);
  expect(b.read(INDEX)).not.toContain(line);
  expect(toldOf(a)).toEqual([]);
});
