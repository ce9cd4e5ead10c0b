import { beforeEach, expect, test } from "bun:test";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

/** Who saves later than that has surely read what others changed. */
const MINUTE_MS = 61_000;

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

test("a key from elsewhere never leads out of the folder, nor to what a system takes for else", async () => {
  const bad = ["../out.md", "/etc/x.md", "a/b.md", "..md", ".hidden.md", "CON.md", "a\\b.md", "x"];
  const more = ["cafe\u0301.md", "a:b.md", "tail .md", "nul.x.md", ".md", "\u0007.md"];
  for (const name of [...bad, ...more]) await a.writeMemory(`auto-memory/${name}`, "text\n");
  await a.writeMemory("auto-memory/good.md", "text\n");
  await a.look();
  expect(a.files()).toEqual(["MEMORY.md", "good.md"]);
  expect(a.keeper.status[0]?.notes.map(({ why }) => why.code)).toEqual(
    [...bad, ...more].map(() => "memory-key"),
  );
});

test("names that some system takes for the same: the first stays, the other is told", async () => {
  a.save("Topic.md", "mine\n");
  await a.look();
  await a.writeMemory("auto-memory/topic.md", "theirs\n");
  await a.writeMemory("auto-memory/straße.md", "one\n");
  await a.writeMemory("auto-memory/STRASSE.md", "two\n");
  await a.look();
  expect(a.files()).toEqual(["MEMORY.md", "STRASSE.md", "Topic.md"]);
  expect(a.keeper.status[0]?.notes.map(({ why }) => why)).toEqual([
    { code: "memory-clash", other: "STRASSE.md" },
    { code: "memory-clash", other: "Topic.md" },
  ]);
});

test("a name whose ending is in capitals is told, and no other file comes beside it", async () => {
  a.save("UP.MD", "up\n");
  await b.writeMemory("auto-memory/UP.md", "theirs\n");
  await settleMemories(a, b);
  expect(a.files()).toEqual(["UP.MD"]);
  expect(a.keeper.status[0]?.notes).toEqual([
    { name: "UP.MD", why: { code: "memory-ending", ending: ".md" } },
    { name: "UP.md", why: { code: "memory-clash", other: "UP.MD" } },
  ]);
});

test("two files whose names are one on some systems are both kept the same, and that is told", async () => {
  a.save("Foo.md", "large\n");
  a.save("foo.md", "small\n");
  await settleMemories(a, b);
  const clash = { name: "foo.md", why: { code: "memory-clash", other: "Foo.md" } } as const;
  expect(a.keeper.status[0]?.notes).toEqual([clash]);
  expect(await b.values("foo.md")).toEqual(["small\n"]);
  await b.writeMemory("auto-memory/foo.md", "small, by b\n");
  await settleMemories(a, b);
  expect(a.read("foo.md")).toBe("small, by b\n");
  expect(a.read("Foo.md")).toBe("large\n");
  a.world.advance(MINUTE_MS);
  await settleMemories(a, b);
  a.save("foo.md", "small, by a\n");
  await settleMemories(a, b);
  expect(await b.values("foo.md")).toEqual(["small, by a\n"]);
});

test("a name whose letters are encoded in parts says so, and which file it is beside", async () => {
  a.save("cafe\u0301.md", "in parts\n");
  a.save("tre\u0301s.md", "in parts\n");
  a.save("tr\u00e9s.md", "whole\n");
  await a.look();
  expect(a.keeper.status[0]?.notes).toEqual([
    { name: "cafe\u0301.md", why: { code: "memory-form" } },
    { name: "tre\u0301s.md", why: { code: "memory-clash", other: "tr\u00e9s.md" } },
  ]);
  expect(await a.values("tr\u00e9s.md")).toEqual(["whole\n"]);
});
