import { beforeEach, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashOf } from "../../daemon/disk/read-file.ts";
import { putMemoryFile, readMemoryFiles } from "../../daemon/home/memory-files.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

test("after a kill in the middle of a write, what was written is no edit", async () => {
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  a.save("one.md", "two\n");
  a.save("new.md", "new\n");
  await a.look();
  await exchangeKept(a, b);
  const known = (await readMemoryFiles(b.store.reader, b.memories)).get("one.md");
  const next = { hash: hashOf("two\n"), text: "two\n", seen: [] };
  // Noted and written, but the daemon never got to say so; then others wrote again.
  await b.store.write(async ({ db }) => {
    if (known) await putMemoryFile(db, b.memories, { ...known, next });
  });
  b.save("one.md", "two\n");
  a.save("one.md", "three\n");
  await a.look();
  await exchangeKept(a, b);
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("three\n");
  expect(await b.values("one.md")).toEqual(["three\n"]);
  expect(b.read("new.md")).toBe("new\n");
});

test("a write in place that a kill interrupted is finished, and is nobody's edit", async () => {
  const former = "- a line of the former text\n".repeat(100);
  const text = "- one of those that come now\n".repeat(100);
  a.save("one.md", former);
  await settleMemories(a, b);
  a.save("one.md", text);
  await a.look();
  await exchangeKept(a, b);
  const known = (await readMemoryFiles(b.store.reader, b.memories)).get("one.md");
  const next = { hash: hashOf(text), text, seen: [] };
  await b.store.write(async ({ db }) => {
    if (known) await putMemoryFile(db, b.memories, { ...known, next });
  });
  writeFileSync(join(b.memories, ".one.md.abcdefg2.whole.memsync"), text);
  writeFileSync(join(b.memories, "one.md"), text.slice(0, 1024) + former.slice(1024));
  await settleMemories(a, b);
  expect(readdirSync(b.memories).sort()).toEqual(["MEMORY.md", "one.md"]);
  for (const machine of [a, b]) {
    expect(machine.read("one.md")).toBe(text);
    expect(await machine.values("one.md")).toEqual([text]);
  }
});

/** As after a kill: b has written `one.md` anew, and a save of that moment has lost its name. */
async function killedWithSave(): Promise<void> {
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  const known = (await readMemoryFiles(b.store.reader, b.memories)).get("one.md");
  const next = { hash: hashOf("one\ntwo\n"), text: "one\ntwo\n", seen: [] };
  await b.store.write(async ({ db }) => {
    if (known) await putMemoryFile(db, b.memories, { ...known, next });
  });
  b.save("one.md", "one\ntwo\n");
  writeFileSync(join(b.memories, ".one.md.abcdefg2.memsync"), "saved\none\n");
}

test("a save that a kill put aside is taken", async () => {
  await killedWithSave();
  await settleMemories(a, b);
  expect((await a.values("one.md")).join("")).toContain("saved\n");
  expect(readdirSync(b.memories)).not.toContain(".one.md.abcdefg2.memsync");
});

test("a save that a kill put aside stays where it is once the file is ignored", async () => {
  await killedWithSave();
  writeFileSync(join(b.project, ".memsyncignore"), "auto-memory/one.md\n");
  await settleMemories(a, b);
  expect(await a.values("one.md")).not.toContain("saved\none\n");
  expect((await a.values("one.md")).join("")).not.toContain("saved\n");
  expect(readdirSync(b.memories)).toContain(".one.md.abcdefg2.memsync");
});
