import { beforeEach, expect, test } from "bun:test";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

test("a topic that is saved over others' change of a moment ago is a conflict with it", async () => {
  const former = "one\ntwo\nthree\n";
  for (const [name, theirs] of [
    ["added.md", "one\ntwo\nthree\nfour\n"],
    ["deleted.md", "one\nthree\n"],
  ] as const) {
    a.save(name, former);
    await settleMemories(a, b);
    b.save(name, theirs);
    await b.look();
    await exchangeKept(a, b);
    await a.look();
    expect(a.read(name)).toBe(theirs);
    for (const version of ["1", "2"]) {
      a.save(name, `${former}${version}\n`);
      await settleMemories(a, b);
      expect(await b.values(name)).toEqual([`${former}${version}\n`, theirs]);
      expect(b.read(name)).toBe(`${former}${version}\n`);
    }
  }
});

test("who changes a topic a minute after others did has seen what they wrote", async () => {
  a.save("topic.md", "one\ntwo\n");
  await settleMemories(a, b);
  b.save("topic.md", "one\nthree\n");
  await settleMemories(a, b);
  a.world.advance(61_000);
  await a.look();
  // Not as it was before: that may be a copy that was put back.
  a.save("topic.md", "one\nfour\n");
  await settleMemories(a, b);
  expect(await b.values("topic.md")).toEqual(["one\nfour\n"]);
});

test("two programs that save over each other leave one version of each, and it comes to rest", async () => {
  a.save("topic.md", "begin\n");
  await settleMemories(a, b);
  for (let version = 1; version <= 6; version++) {
    a.save("topic.md", `begin\nof a, ${version}\n`);
    await settleMemories(a, b);
    b.save("topic.md", `begin\nof b, ${version}\n`);
    await settleMemories(a, b);
    expect((await a.values("topic.md")).length).toBeLessThanOrEqual(2);
  }
  const values = await a.values("topic.md");
  expect([...values].sort()).toEqual(["begin\nof a, 6\n", "begin\nof b, 6\n"]);
  await settleMemories(a, b);
  expect(await a.values("topic.md")).toEqual(values);
  expect(a.read("topic.md")).toBe(b.read("topic.md") ?? "");
});

test("who takes out line after line of what just came leaves one version, and what came as a conflict", async () => {
  const come = "one\nx\ny\nz\n";
  for (const [name, kept] of [
    ["at-once.md", come],
    ["after-another.md", `${come}mine\n`],
  ] as const) {
    a.save(name, "one\n");
    await settleMemories(a, b);
    b.save(name, come);
    await b.look();
    await exchangeKept(a, b);
    await a.look();
    for (const text of [kept, "one\ny\nz\n", "one\nz\n", "one\n"]) {
      a.save(name, text);
      await a.look();
    }
    expect(await a.values(name)).toEqual(["one\n", kept]);
  }
});
