import { Database } from "bun:sqlite";
import { beforeEach, expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { salvage } from "../../daemon/recovery/salvage.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";

const NOTHING = { links: [], bindings: undefined };

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

/** What a daemon does that finds its home damaged. `spoil`: what of the database is lost. */
async function rebuilt(
  machine: MemoryMachine | PersonalMachine,
  spoil: (database: Database) => void = () => undefined,
): Promise<void> {
  await machine.end();
  const path = join(machine.folder, "memsync.db");
  const database = new Database(path);
  spoil(database);
  database.close();
  await salvage(path, `${path}.new`, { kept: NOTHING, world: machine.world });
  renameSync(`${path}.new`, path);
  await machine.begin();
}

/** Both have the files, and ben's user has agreed to a deletion while anna's machine was away. */
async function deletedByBen(): Promise<void> {
  a.save("one.md", "one\nline\n");
  a.save("two.md", "two: a wrong fact\n");
  await settleMemories(a, b);
  b.drop("two.md");
  await b.look();
  b.world.advance(60_000);
  await b.look();
  await b.settle("two.md", "delete");
  b.save("one.md", "one\nline, corrected\n");
  await b.look();
  expect(await b.values("two.md")).toEqual([]);
}

test("what a rebuilt home knows of memory files tells a deletion from what is new", async () => {
  await deletedByBen();
  await rebuilt(a);
  await settleMemories(a, b);
  expect(await b.values("two.md")).toEqual([]);
  expect(await a.values("one.md")).toEqual(["one\nline, corrected\n"]);
  expect(a.read("one.md")).toBe("one\nline, corrected\n");
  expect(a.keeper.status[0]?.asked).toEqual([{ name: "two.md", asked: "deleted" }]);
});

for (const as of ["delete", "restore"] as const) {
  test(`a file that a home has forgotten is asked about where its memory was deleted: ${as}`, async () => {
    await deletedByBen();
    await exchangeKept(a, b);
    await rebuilt(a, (database) => database.run("delete from memory_files"));
    await settleMemories(a, b);
    expect(await b.values("two.md")).toEqual([]);
    expect(a.keeper.status[0]?.asked).toEqual([{ name: "two.md", asked: "deleted" }]);
    await a.settle("two.md", as);
    await settleMemories(a, b);
    const text = as === "delete" ? undefined : "two: a wrong fact\n";
    expect([a.read("two.md"), b.read("two.md")]).toEqual([text, text]);
    expect(a.keeper.status[0]?.asked).toEqual([]);
  });
}

test("a file that somebody saves after the deletion is a memory", async () => {
  await deletedByBen();
  await exchangeKept(a, b);
  await rebuilt(a, (database) => database.run("delete from memory_files"));
  a.world.advance(120_000);
  a.save("two.md", "two: mended\n");
  await settleMemories(a, b);
  expect(b.read("two.md")).toBe("two: mended\n");
  expect(a.keeper.status[0]?.asked).toEqual([]);
});

test("a rebuilt home has the personal text in the same files, and merges edits as before", async () => {
  const [one, other] = [await PersonalMachine.start("one"), await PersonalMachine.start("other")];
  try {
    await one.on("claude");
    await other.on("codex");
    one.edit("claude", () => "first\nsecond\nthird\n");
    await settlePersonal(one, other);
    other.world.advance(60_000);
    await other.look();
    other.edit("codex", () => "first\nthird\n");
    await settlePersonal(other);
    await rebuilt(one);
    one.edit("claude", (text) => `${text}fourth\n`);
    await settlePersonal(one, other);
    for (const block of [one.block("claude"), other.block("codex")]) {
      expect(block).toBe("first\nthird\nfourth\n");
    }
  } finally {
    for (const machine of [one, other]) await machine.remove();
  }
});
