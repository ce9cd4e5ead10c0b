import { beforeEach, expect, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { waitFor } from "../support/wait-for.ts";

const INDEX = "MEMORY.md";
const FIRST = "# Memory\n\n- [One](one.md)\n- [Two](two.md)\n";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
  a.save(INDEX, FIRST);
  await settleMemories(a, b);
});
test("the line of a session stays that saved between two looks, before another session did", async () => {
  await a.saveHeard(INDEX, `${FIRST}- of session 2\n`);
  await a.saveHeard(INDEX, `${FIRST}- of session 1\n`);
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    for (const of of ["2", "1"]) expect(machine.read(INDEX)).toContain(`- of session ${of}\n`);
  }
  expect(await a.history(INDEX)).toContain(`${FIRST}- of session 2\n`);
});

test("what a program has written half of between two looks changes nothing", async () => {
  for (const machine of [a, b]) machine.world.advance(61_000);
  await settleMemories(a, b);
  await a.saveHeard(INDEX, "# Memory\n\n- [One]");
  await a.saveHeard(INDEX, "# Memory\n\n- [One](one.md)\n");
  await a.saveHeard(INDEX, `${FIRST}- whole\n`);
  await settleMemories(a, b);
  for (const machine of [a, b]) expect(machine.read(INDEX)).toBe(`${FIRST}- whole\n`);
  expect(await a.history(INDEX)).toEqual([FIRST]);
});

for (const isHeard of [true, false]) {
  test(`what is left of a longer index while a shorter one is written over it is nobody's line, ${isHeard ? "heard of" : "looked at"}`, async () => {
    const others = `${FIRST}- a typo\n`;
    b.save(INDEX, others);
    await settleMemories(a, b);
    expect(a.read(INDEX)).toBe(others);
    const own = FIRST.replace("- [One]", "- of a\n- [One]");
    const left = others.slice(own.length);
    expect(left).toBe("o\n");
    if (isHeard) await a.saveHeard(INDEX, own + left);
    else {
      a.save(INDEX, own + left);
      await a.keeper.look();
    }
    await a.saveHeard(INDEX, own);
    await settleMemories(a, b);
    for (const each of [a, b]) {
      const lines = each.read(INDEX)?.split("\n");
      expect(lines).toContain("- a typo");
      expect(lines).toContain("- of a");
      expect(lines).not.toContain("o");
    }
  });
}

test("a text that an older file replaces before the look is taken with it, and does not come again", async () => {
  for (const machine of [a, b]) machine.world.advance(61_000);
  await settleMemories(a, b);
  await a.saveHeard(INDEX, `${FIRST}- of a session\n`);
  const path = join(a.memories, INDEX);
  writeFileSync(path, `${FIRST}- put back\n`);
  utimesSync(path, 1, 1);
  await settleMemories(a, b);
  const text = a.read(INDEX) ?? "";
  for (const of of ["of a session", "put back"]) expect(text).toContain(`- ${of}\n`);
  expect(a.keeper.status.flatMap(({ notes }) => notes.map(({ why }) => why))).toMatchObject([
    { code: "line-kept", line: "- of a session" },
  ]);
  a.save(INDEX, text.replace("- of a session\n", ""));
  for (const machine of [a, b]) machine.world.advance(61_000);
  await settleMemories(a, b);
  a.save(INDEX, (a.read(INDEX) ?? "").replace("- of a session\n", "- more\n"));
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe(`${FIRST}- put back\n- more\n`);
});

test("a line that was gone on with between two looks stands once", async () => {
  await a.saveHeard(INDEX, `${FIRST}- by\n`);
  await a.saveHeard(INDEX, `${FIRST}- by night\n`);
  await settleMemories(a, b);
  for (const machine of [a, b]) expect(machine.read(INDEX)).toBe(`${FIRST}- by night\n`);
});

test("what was ignored meanwhile goes nowhere, also later", async () => {
  const ignore = join(a.project, ".memsyncignore");
  writeFileSync(ignore, "auto-memory/MEMORY.md\n");
  await a.keeper.look();
  await a.saveHeard(INDEX, `${FIRST}- secret\n`);
  await a.look();
  await a.saveHeard(INDEX, `${FIRST}- open\n`);
  writeFileSync(ignore, "auto-memory/other.md\n");
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe(`${FIRST}- open\n`);
  expect((await a.history(INDEX)).join("")).not.toContain("secret");
});

for (const transactions of Array.from({ length: 14 }, (_, at) => at)) {
  test(`what an event told of survives a kill after ${transactions} transactions`, async () => {
    for (const machine of [a, b]) machine.world.advance(61_000);
    await settleMemories(a, b);
    await a.saveHeard(INDEX, `${FIRST}- of session 1\n`);
    await a.saveHeard(INDEX, `${FIRST}- of session 2\n`);
    await a.killIn(transactions);
    a.world.advance(2000);
    a.save(INDEX, `${FIRST}- of session 3\n`);
    await a.begin();
    await settleMemories(a, b);
    for (const machine of [a, b]) {
      for (const of of [1, 2, 3]) expect(machine.read(INDEX)).toContain(`- of session ${of}\n`);
    }
    // Nothing of it comes again.
    a.world.advance(61_000);
    await settleMemories(a, b);
    a.save(INDEX, FIRST);
    await settleMemories(a, b);
    await a.end();
    await a.begin();
    await settleMemories(a, b);
    for (const machine of [a, b]) expect(machine.read(INDEX)).toBe(FIRST);
    const left = await a.store.reader.selectFrom("file_arrivals").select("dir").execute();
    expect(left.filter(({ dir }) => dir.startsWith("glimpse:"))).toEqual([]);
  });
}

test("an index is looked at soon after its event, and the first two saves of a new one both stay", async () => {
  for (const machine of [a, b]) await machine.remove();
  [a, b] = [await start("anna"), await start("ben")];
  a.save("topic.md", "a topic\n");
  await a.keeper.look();
  await a.saveHeard(INDEX, "# Memory\n\n- of session 1\n");
  await a.saveHeard(INDEX, "# Memory\n\n- of session 2\n");
  a.world.advance(100);
  await waitFor("a look", async () => {
    const text = (await a.values(INDEX)).join("");
    return [1, 2].every((of) => text.includes(`- of session ${of}\n`));
  });
});

test("a save that a look takes and writes over is taken once, however late the system tells of it", async () => {
  for (const machine of [a, b]) machine.world.advance(61_000);
  await settleMemories(a, b);
  b.save(INDEX, `${FIRST}- of ben\n`);
  await b.look();
  await exchangeKept(a, b);
  await a.saveHeardLate(INDEX, FIRST.replace("- [Two](two.md)\n", "- of anna\n"));
  const merged = a.read(INDEX);
  expect(merged).toContain("- of ben\n");
  expect(merged).not.toContain("[Two]");
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect(machine.read(INDEX)).toBe(merged);
    expect(machine.keeper.status.flatMap(({ notes }) => notes)).toEqual([]);
  }
});
