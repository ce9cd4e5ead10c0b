import { beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isNamedIn } from "../../daemon/assistants/memory-folders/index-lines.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const FLAT = "---\nname: Tests\ndescription: how to test\ntype: feedback\n---\n\nRun bun.\n";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

test("a file that comes has its line at once, in its file alone for a minute", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  await settleMemories(a, b);
  a.save("two.md", FLAT);
  await a.look();
  await exchangeKept(a, b);
  await b.look();
  const made = "- [Tests](two.md) — how to test\n";
  expect([b.read("two.md"), b.read("MEMORY.md")]).toEqual([FLAT, `${index}${made}`]);
  await settleMemories(a, b);
  // Its author is just about to name it.
  expect(a.read("MEMORY.md")).toBe(index);
  expect(await b.values("MEMORY.md")).toEqual([index]);
  const named = `${index}- [Of two](two.md) — its author's words\n`;
  a.save("MEMORY.md", named);
  await settleMemories(a, b);
  for (const each of [a, b]) expect(each.read("MEMORY.md")).toBe(named);
  a.world.advance(61_000);
  b.world.advance(61_000);
  await settleMemories(a, b);
  for (const each of [a, b]) expect(each.read("MEMORY.md")).toBe(named);
  expect(b.keeper.status[0]).toMatchObject({ asked: [], notes: [] });
});

test("an index that is made for what comes is asked about by nobody, and united with others", async () => {
  a.save("two.md", FLAT);
  await settleMemories(a, b);
  const made = "# Memory Index\n\n- [Tests](two.md) — how to test\n";
  expect(b.read("MEMORY.md")).toBe(made);
  expect(a.read("MEMORY.md")).toBeUndefined();
  await b.look();
  expect(b.keeper.status[0]).toMatchObject({ asked: [], notes: [] });
  a.save("MEMORY.md", "# Memory Index\n\n- [Of one](one.md)\n");
  b.save("MEMORY.md", `${made}- [Of three](three.md)\n`);
  await settleMemories(a, b);
  for (const each of [a, b]) {
    for (const name of ["one.md", "two.md", "three.md"]) {
      expect(each.read("MEMORY.md")?.split(`](${name})`)).toHaveLength(2);
    }
  }
});

test("a save that has not seen the line of what came takes it not away, nor loses its own", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  await settleMemories(a, b);
  a.save("two.md", FLAT);
  await settleMemories(a, b);
  const made = "- [Tests](two.md) — how to test\n";
  expect(b.read("MEMORY.md")).toBe(`${index}${made}`);
  // One replaces what it read before, one adds to what is there, and another machine does both.
  b.save("MEMORY.md", `${index}- [Three](three.md)\n`);
  a.save("MEMORY.md", `${index}- [Four](four.md)\n`);
  await settleMemories(a, b);
  b.save("MEMORY.md", `${b.read("MEMORY.md")}- [Five](five.md)\n`);
  await settleMemories(a, b);
  a.world.advance(61_000);
  b.world.advance(61_000);
  await settleMemories(a, b);
  for (const each of [a, b]) {
    for (const name of ["one", "two", "three", "four", "five"]) {
      expect(each.read("MEMORY.md")?.split(`](${name}.md)`)).toHaveLength(2);
    }
  }
});

test("what stays on its machine has no line elsewhere, and an ignored index gets none", async () => {
  writeFileSync(join(b.project, ".memsyncignore"), "auto-memory/two.md\n");
  a.save("two.md", FLAT);
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  expect(b.files()).toEqual(["MEMORY.md", "one.md"]);
  expect(b.read("MEMORY.md")).toBe("# Memory Index\n\n- [one](one.md)\n");
  writeFileSync(join(b.project, ".memsyncignore"), "auto-memory/MEMORY.md\n");
  a.save("three.md", "three\n");
  await settleMemories(a, b);
  expect(b.files()).toEqual(["MEMORY.md", "one.md", "three.md", "two.md"]);
  expect(b.read("MEMORY.md")).toBe("# Memory Index\n\n- [one](one.md)\n");
});

const TESTS_LINE = "- [Feedback: use bun for tests](bun_tests.md) — user prefers bun over npm\n";
const SCRIPTS_LINE =
  "- [Feedback: use bun for scripts](bun_scripts.md) — user prefers bun over npm\n";

test("a line that is only like one that came takes it not away", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  await settleMemories(a, b);
  b.world.advance(61_000);
  a.save("MEMORY.md", `${index}${TESTS_LINE}`);
  await settleMemories(a, b);
  b.save("MEMORY.md", `${index}${SCRIPTS_LINE}`);
  await settleMemories(a, b);
  for (const line of [TESTS_LINE, SCRIPTS_LINE]) expect(a.read("MEMORY.md")).toContain(line);
  expect(b.read("MEMORY.md")).toBe(a.read("MEMORY.md") ?? "");
  // Its minute is over: left out once more it goes, and is told.
  b.world.advance(61_000);
  await b.look();
  b.save("MEMORY.md", `${index}${SCRIPTS_LINE}`);
  await settleMemories(a, b);
  expect(a.read("MEMORY.md")).toBe(`${index}${SCRIPTS_LINE}`);
  expect((await a.values("MEMORY.md"))[1]).toContain(TESTS_LINE);
});

const DEPLOY = "- [deploy](ops.md) — deploy with make ship, from main only\n";
const ROLLBACK = "- [rollback](ops.md) — roll back with make undo\n";
const OLD_PORT = "- [port](port.md) the port is 5432, see there\n";
const NEW_PORT = "- [port](port.md) the port is 5433, see there\n";

test("another session's line about the same file is no mend of one that came just before", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  await settleMemories(a, b);
  a.save("MEMORY.md", `${index}${DEPLOY}`);
  await settleMemories(a, b);
  a.save("MEMORY.md", `${index}${ROLLBACK}`);
  await settleMemories(a, b);
  for (const line of [DEPLOY, ROLLBACK]) {
    for (const each of [a, b]) expect(each.read("MEMORY.md")).toContain(line);
  }
});

test("a save with the former text of a line that another session has mended reverts no mend", async () => {
  const index = `# Memory\n\n- [One](one.md)\n${OLD_PORT}`;
  a.save("MEMORY.md", index);
  await settleMemories(a, b);
  for (const each of [a, b]) each.world.advance(61_000);
  await settleMemories(a, b);
  a.save("MEMORY.md", index.replace(OLD_PORT, NEW_PORT));
  await settleMemories(a, b);
  a.save("MEMORY.md", `${index}- learned\n`);
  await settleMemories(a, b);
  for (const line of [NEW_PORT, OLD_PORT, "- learned\n"]) {
    for (const each of [a, b]) expect(each.read("MEMORY.md")).toContain(line);
  }
});

test("a line that others took out just before a save brought it back is told until it goes", async () => {
  const index = "# Memory\n\n- [One](one.md)\n- [Two](two.md)\n";
  const without = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  await settleMemories(a, b);
  a.world.advance(61_000);
  b.world.advance(61_000);
  await b.look();
  b.save("MEMORY.md", without);
  await b.look();
  await exchangeKept(a, b);
  await a.keeper.look();
  expect(a.read("MEMORY.md")).toBe(without);
  a.save("MEMORY.md", `${index}- [Three](three.md)\n`);
  await settleMemories(a, b);
  expect(b.read("MEMORY.md")).toBe(`${index}- [Three](three.md)\n`);
  const why = { code: "line-returned", line: "- [Two](two.md)" };
  expect(a.keeper.status[0]?.notes).toMatchObject([{ name: "MEMORY.md", why }]);
  a.save("MEMORY.md", `${without}- [Three](three.md)\n`);
  await settleMemories(a, b);
  a.world.advance(61_000);
  await a.look();
  a.save("MEMORY.md", `${without}- [Three](three.md)\n`);
  await settleMemories(a, b);
  expect(b.read("MEMORY.md")).toBe(`${without}- [Three](three.md)\n`);
  expect(a.keeper.status[0]?.notes).toEqual([]);
});

test("what no look found a minute later is unseen after a restart, whenever it was saved", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  await settleMemories(a, b);
  for (const [name, lateMs] of Object.entries({ two: 1000, three: 90_000, four: 1000 })) {
    const before = b.read("MEMORY.md") ?? "";
    a.save("MEMORY.md", `${a.read("MEMORY.md")}- [It](${name}.md)\n`);
    await a.look();
    await exchangeKept(a, b);
    await b.keeper.look();
    expect(b.read("MEMORY.md")).toContain(`${name}.md`);
    if (name === "four") {
      b.world.advance(61_000);
      await b.look();
    }
    await b.end();
    b.world.advance(lateMs);
    b.save("MEMORY.md", `${before}- [Own](own-${name}.md)\n`);
    await b.begin();
    await settleMemories(a, b);
    expect(a.read("MEMORY.md")).toContain(`own-${name}.md`);
    expect(a.read("MEMORY.md")?.includes(`(${name}.md)`)).toBe(name !== "four");
    a.world.advance(61_000);
    b.world.advance(61_000);
  }
});

test("a name that ends another file's name or path is no line for it", () => {
  for (const [index, name] of [
    ["- [Testing](feedback_testing.md)", "testing.md"],
    ["- [Auth](api-auth.md)", "auth.md"],
    ["See docs/deploy.md for all.", "deploy.md"],
    ["- [Old](deploy.md.bak)", "deploy.md"],
    ["- [Ä](\u00e4b.md)", "b.md"],
  ] as const) {
    expect([index, name, isNamedIn(index, name)]).toEqual([index, name, false]);
  }
  for (const [index, name] of [
    ["- [Testing](testing.md) \u2014 how", "testing.md"],
    ["- [Testing](./testing.md)", "testing.md"],
    ["- [Two words](<two words.md>)", "two words.md"],
    ["- [Two words](two%20words.md)", "two words.md"],
    ["See deploy.md.", "deploy.md"],
    ["`deploy.md`", "deploy.md"],
    ["- [[deploy]]", "deploy.md"],
    ["- [Below](sub/one.md)", "sub/one.md"],
  ] as const) {
    expect([index, name, isNamedIn(index, name)]).toEqual([index, name, true]);
  }
});

test("a topic that was deleted within the minute gets no line, and one that is restored does", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  const lookAround = async () => {
    await a.look();
    await exchangeKept(a, b);
    await b.look();
  };
  a.save("three.md", "three\n");
  await lookAround();
  a.drop("three.md");
  await a.look();
  await a.settle("three.md", "delete");
  await lookAround();
  expect(b.keeper.status[0]?.asked).toMatchObject([{ name: "three.md", asked: "deleted" }]);
  for (const each of [a, b]) each.world.advance(61_000);
  await settleMemories(a, b);
  for (const each of [a, b]) expect(each.read("MEMORY.md")).not.toContain("](three.md)");
  b.drop("one.md");
  b.save("MEMORY.md", "# Memory\n");
  await settleMemories(a, b);
  for (const each of [a, b]) each.world.advance(61_000);
  await settleMemories(a, b);
  await b.settle("one.md", "restore");
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("one\n");
  expect(b.read("MEMORY.md")).toContain("](one.md)");
});
