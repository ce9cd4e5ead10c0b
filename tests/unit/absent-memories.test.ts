import { beforeEach, expect, test } from "bun:test";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

test("a file that was empty from the first gets what others have, unless it is being written", async () => {
  for (const name of ["MEMORY.md", "one.md", "two.md"]) a.save(name, "");
  b.save("MEMORY.md", "- [one](one.md) - one\n- [two](two.md) - two\n");
  for (const name of ["one.md", "two.md"]) b.save(name, `of ${name}\n`);
  await b.look();
  await exchangeKept(a, b);
  await a.look();
  a.save("two.md", "own\n");
  expect([a.read("MEMORY.md"), a.read("one.md")]).toEqual(["", ""]);
  a.world.advance(10_000);
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect(machine.read("MEMORY.md")).toBe("- [one](one.md) - one\n- [two](two.md) - two\n");
    expect(machine.read("one.md")).toBe("of one.md\n");
    expect(await machine.values("two.md")).toEqual(["own\n", "of two.md\n"]);
  }
  expect(a.keeper.status[0]?.asked).toEqual([]);
});

test("an empty file of nobody's memory, or where nothing is written, stays empty", async () => {
  a.save("alone.md", "\n");
  a.save("one.md", "");
  b.save("one.md", "one\n");
  a.mode = "read";
  await settleMemories(a, b);
  a.world.advance(20_000);
  await settleMemories(a, b);
  expect([a.read("alone.md"), a.read("one.md")]).toEqual(["\n", ""]);
  a.drop("one.md");
  await settleMemories(a, b);
  expect(a.keeper.status[0]?.asked).toEqual([]);
  expect(await b.values("one.md")).toEqual(["one\n"]);
  a.mode = "write";
  await settleMemories(a, b);
  expect(a.read("one.md")).toBe("one\n");
});

test("a line that comes back with a file by `restore` is no news to who said so", async () => {
  const lines = [1, 2, 3, 4, 5].map((at) => `- [t${at}](t${at}.md) — t${at}\n`);
  a.save("MEMORY.md", lines.join(""));
  for (let at = 1; at <= 5; at++) {
    a.save(`t${at}.md`, `---\nname: t${at}\ndescription: t${at}\n---\n`);
  }
  await settleMemories(a, b);
  for (const machine of [a, b]) machine.world.advance(70_000);
  await settleMemories(a, b);
  a.save("MEMORY.md", lines.slice(2).join(""));
  for (const name of ["t1.md", "t2.md"]) a.drop(name);
  await settleMemories(a, b);
  await a.settle("t1.md", "restore");
  await settleMemories(a, b);
  for (const machine of [a, b]) machine.world.advance(70_000);
  await settleMemories(a, b);
  expect(a.read("MEMORY.md")).toContain("(t1.md)");
  expect(b.read("MEMORY.md")).toContain("(t1.md)");
  expect(a.keeper.status[0]?.asked).toEqual([{ name: "t2.md", asked: "missing" }]);
  expect(a.keeper.status[0]?.notes).toEqual([]);
});
