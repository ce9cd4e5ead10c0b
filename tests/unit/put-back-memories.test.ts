import { beforeEach, expect, test } from "bun:test";
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const INDEX = "MEMORY.md";
const TOPIC = "one.md";
const FIRST = "# Memory\n\n- one\n- two\n";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
  a.save(INDEX, FIRST);
  a.save(TOPIC, "one\n");
  await settleMemories(a, b);
  await passMinutes();
});

async function passMinutes(): Promise<void> {
  for (let minute = 0; minute < 3; minute += 1) {
    for (const machine of [a, b]) machine.world.advance(61_000);
    await settleMemories(a, b);
  }
}

function toldOf({ keeper }: MemoryMachine): unknown[] {
  return keeper.status.flatMap(({ notes }) =>
    notes.flatMap(({ why }) => ("line" in why ? [`${why.code} ${why.line}`] : [])),
  );
}

/** A copy of a's folder of before, with the times at which it is put back. */
async function putBack(change: () => void): Promise<void> {
  const copy = a.files().map((name) => [name, a.read(name) ?? ""] as const);
  change();
  await settleMemories(a, b);
  await passMinutes();
  for (const [name, text] of copy) a.save(name, text);
  await settleMemories(a, b);
}

test("an older copy of the folder takes nothing of what others wrote since away unsaid", async () => {
  await putBack(() => {
    b.save(TOPIC, "one\nprecious by ben\n");
    b.save(INDEX, `${b.read(INDEX)}- precious\n`);
  });
  for (const machine of [a, b]) {
    expect(machine.read(INDEX)).toContain("- precious\n");
    expect(machine.read(TOPIC)).toBe("one\nprecious by ben\n");
    expect(await machine.values(TOPIC)).toEqual(["one\nprecious by ben\n", "one\n"]);
    expect(await machine.values(INDEX)).toHaveLength(1);
  }
  expect(toldOf(a)).toEqual(["line-kept - precious"]);
});

test("what others took out since comes back only told", async () => {
  await putBack(() => {
    b.save(TOPIC, "another\n");
    b.save(INDEX, (b.read(INDEX) ?? "").replace("- two\n", ""));
  });
  for (const machine of [a, b]) {
    expect(machine.read(TOPIC)).toBe("another\n");
    expect(await machine.values(TOPIC)).toEqual(["another\n", "one\n"]);
    expect(machine.read(INDEX)).toContain("- two\n");
  }
  expect(toldOf(a)).toEqual(["line-returned - two"]);
  expect(toldOf(b)).toEqual(["line-undone - two"]);
});

test("who meant to take others' lines out does it once more", async () => {
  const before = a.read(INDEX) ?? "";
  await putBack(() => {
    b.save(TOPIC, "one\nprecious by ben\n");
    b.save(INDEX, `${b.read(INDEX)}- precious\n`);
  });
  await passMinutes();
  a.save(TOPIC, "one\n");
  a.save(INDEX, before);
  await settleMemories(a, b);
  await passMinutes();
  for (const machine of [a, b]) {
    expect(machine.read(INDEX)).toBe(before);
    expect(machine.read(TOPIC)).toBe("one\n");
  }
  expect(toldOf(a)).toEqual([]);
});

test("an undo of one's own edit is an edit, also of one upon what others wrote", async () => {
  b.save(TOPIC, "one\nof ben\n");
  b.save(INDEX, `${b.read(INDEX)}- of ben\n`);
  await settleMemories(a, b);
  await passMinutes();
  const [topic, index] = [a.read(TOPIC) ?? "", a.read(INDEX) ?? ""];
  a.save(TOPIC, `${topic}of anna\n`);
  a.save(INDEX, `${index}- of anna\n`);
  await settleMemories(a, b);
  await passMinutes();
  a.save(TOPIC, topic);
  a.save(INDEX, index);
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect(machine.read(TOPIC)).toBe(topic);
    expect(machine.read(INDEX)).toBe(index);
    expect(await machine.values(TOPIC)).toHaveLength(1);
    expect(toldOf(machine)).toEqual([]);
  }
});

test("who takes a single line of others' out of an index alone means it", async () => {
  const before = a.read(INDEX) ?? "";
  b.save(INDEX, `${before}- outdated\n`);
  await settleMemories(a, b);
  await passMinutes();
  a.save(INDEX, before);
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect(machine.read(INDEX)).toBe(before);
    expect(toldOf(machine)).toEqual([]);
  }
});

test("a program that writes an earlier version into a replaced file undoes nothing either", async () => {
  b.save(TOPIC, "one\nprecious by ben\n");
  b.save(INDEX, `${FIRST}- precious\n- more\n`);
  await settleMemories(a, b);
  await passMinutes();
  const open = [TOPIC, INDEX].map((name) => openSync(join(a.memories, name), "r+"));
  b.save(TOPIC, "of ben\n\none\nprecious by ben\n");
  b.save(INDEX, `${FIRST.replace("- one", "- of ben\n- one")}- precious\n- more\n`);
  await settleMemories(a, b);
  for (const [at, text] of ["one\n", FIRST].entries()) {
    const file = open[at] ?? -1;
    ftruncateSync(file);
    writeSync(file, text, 0);
    closeSync(file);
  }
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect(machine.read(TOPIC)).toBe("of ben\n\none\nprecious by ben\n");
    expect(await machine.values(TOPIC)).toEqual(["of ben\n\none\nprecious by ben\n", "one\n"]);
    for (const line of ["- of ben\n", "- precious\n", "- more\n"]) {
      expect(machine.read(INDEX)).toContain(line);
    }
  }
});
