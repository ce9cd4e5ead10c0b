import { afterEach, beforeEach, expect, test } from "bun:test";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { MADE_OF_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { MEMORY_PROJECT, MemoryMachine, settleMemories } from "../support/memory-machines.ts";

const INDEX = "MEMORY.md";
const ONE = "- [One](one.md)\n";
const TWO = "- [Two](two.md) the port is 5432\n";
const THREE = "- [Three](three.md)\n";
const FIRST = `# Memory\n\n${ONE}${TWO}${THREE}`;

let a: MemoryMachine;
let b: MemoryMachine;
let c: MemoryMachine;

beforeEach(async () => {
  a = await MemoryMachine.start("anna");
  b = await MemoryMachine.start("ben");
  c = await MemoryMachine.start("cleo");
  a.save(INDEX, FIRST);
  await settleMemories(a, b, c);
  await passMinute();
});
afterEach(async () => {
  for (const machine of [a, b, c]) await machine.remove();
});

async function passMinute(): Promise<void> {
  for (const machine of [a, b, c]) machine.world.advance(61_000);
  await settleMemories(a, b, c);
}

function edit(machine: MemoryMachine, from: string, to: string): void {
  machine.save(INDEX, (machine.read(INDEX) ?? "").replace(from, to));
}

/** What all machines have. */
function readAll(): string {
  const [text = "", ...others] = [a, b, c].map((each) => each.read(INDEX));
  for (const other of others) expect(other).toBe(text);
  return text;
}

test("each side's deletions count, whichever of two concurrent edits is the later one", async () => {
  for (const [first, second] of [
    [a, b],
    [b, a],
  ] as const) {
    edit(first, TWO, "");
    edit(second, THREE, `${THREE}- of ${second.name}\n`);
    await settleMemories(a, b, c);
    const text = readAll();
    expect(text).not.toContain(TWO);
    expect(text).toContain(`- of ${second.name}\n`);
    await passMinute();
    edit(a, "# Memory\n\n", `# Memory\n\n${TWO}`);
    await settleMemories(a, b, c);
    await passMinute();
  }
});

test("many edits of machines that are apart for days come to what each one added and took out", async () => {
  const machines = [a, b, c] as const;
  const taken = [ONE, TWO, THREE];
  for (const [at, machine] of machines.entries()) {
    for (let day = 0; day < 3; day++) {
      edit(machine, "# Memory\n\n", `# Memory\n\n- ${machine.name} on day ${day}\n`);
      await machine.look();
      machine.world.advance(24 * 60 * 60_000);
    }
    edit(machine, taken[at] ?? "", "");
    await machine.look();
  }
  await settleMemories(a, b, c);
  const lines = readAll().split("\n");
  const added = machines.flatMap(({ name }) => [0, 1, 2].map((day) => `- ${name} on day ${day}`));
  expect(lines.filter((line) => line.startsWith("- ")).sort()).toEqual(added.sort());
  expect(await a.values(INDEX)).toHaveLength(1);
});

test("a line that one takes out and another mends stays as it was mended", async () => {
  const mended = TWO.replace("5432", "5433");
  edit(a, TWO, "");
  edit(b, TWO, mended);
  await settleMemories(a, b, c);
  expect(readAll()).toBe(FIRST.replace(TWO, mended));
});

/** The pairs of lines that it tells of. */
function metOf({ keeper }: MemoryMachine): string[][] {
  return keeper.status.flatMap(({ notes }) =>
    notes.flatMap(({ why }) => (why.code === "lines-met" ? [[why.line, why.other].sort()] : [])),
  );
}

test("two wordings of one line, however unlike, both stay and are told on every machine", async () => {
  edit(a, TWO, "- bun runs the scripts\n");
  edit(b, TWO, "- see package.json\n");
  await settleMemories(a, b, c);
  const text = readAll();
  for (const line of ["- bun runs the scripts\n", "- see package.json\n"]) {
    expect(text).toContain(line);
  }
  edit(c, "# Memory\n", "# Memories\n");
  await settleMemories(a, b, c);
  for (const machine of [a, b, c]) {
    expect(metOf(machine)).toEqual([["- bun runs the scripts", "- see package.json"]]);
  }
  await passMinute();
  edit(c, "- see package.json\n", "");
  await settleMemories(a, b, c);
  for (const machine of [a, b, c]) expect(metOf(machine)).toEqual([]);
  expect(readAll()).not.toContain("package.json");
  const own = await a.store.write(async (context) => {
    const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: MEMORY_PROJECT });
    return document.metadata.get(MADE_OF_PREFIX + a.keyOf(INDEX)).map(({ value }) => value);
  });
  expect(own).not.toEqual([]);
  expect(JSON.stringify(own)).not.toContain("package.json");
});

test("a line that one rewrites and another moves is told, and no other topic's in its place", async () => {
  const rewritten = TWO.replace("the port", "anna's port");
  edit(a, TWO, rewritten);
  b.save(INDEX, `# Memory\n\n${ONE}- [Lint](lint.md) run it first\n${THREE}${TWO}`);
  await settleMemories(a, b, c);
  for (const line of [rewritten, TWO, "- [Lint](lint.md) run it first\n"]) {
    expect(readAll()).toContain(line);
  }
  const pair = [rewritten, TWO].map((line) => line.trimEnd()).sort();
  for (const machine of [a, b, c]) expect(metOf(machine)).toEqual([pair]);
});

test("two edits of two lines about one topic are no versions of one", async () => {
  const more = "- [Two](two.md) and its users\n";
  edit(a, TWO, `${TWO}${THREE}${more}`);
  edit(a, `${more}${THREE}`, more);
  await settleMemories(a, b, c);
  await passMinute();
  edit(a, TWO, TWO.replace("the port", "anna's port"));
  edit(b, more, more.replace("users", "friends"));
  await settleMemories(a, b, c);
  expect(readAll()).toContain("friends");
  for (const machine of [a, b, c]) expect(metOf(machine)).toEqual([]);
});

test("two wordings of a line that came less than a minute before are told as well", async () => {
  for (const [line, one, other] of [
    ["- a rule", "- a rule, by anna", "- a rule, by ben"],
    ["- never use npm here", "- never use npm here, says anna", "- never use npm today"],
  ] as const) {
    edit(a, TWO, `${TWO}${line}\n`);
    await settleMemories(a, b, c);
    edit(a, `${line}\n`, `${one}\n`);
    edit(b, `${line}\n`, `${other}\n`);
    await settleMemories(a, b, c);
    expect(readAll()).toContain(`${one}\n`);
    expect(readAll()).toContain(`${other}\n`);
    for (const machine of [a, b, c]) expect(metOf(machine)).toContainEqual([one, other]);
  }
});

test("two edits at once bring back no line that is in dispute, and its older version stays", async () => {
  const line = "- of ben\n";
  edit(b, THREE, `${THREE}${line}`);
  await settleMemories(a, b, c);
  for (let save = 0; save < 2; save++) {
    await a.end();
    a.world.advance(2 * 60 * 60_000);
    edit(a, line, "");
    await a.begin();
    await a.look();
  }
  await settleMemories(a, b, c);
  expect(readAll()).not.toContain(line);
  for (let round = 0; round < 2; round++) {
    edit(a, "# Memory\n\n", `# Memory\n\n- anna ${round}\n`);
    edit(c, THREE, `${THREE}- cleo ${round}\n`);
    await settleMemories(a, b, c);
    await passMinute();
    expect(readAll()).not.toContain(line);
    for (const machine of [a, b, c]) {
      const [, ...older] = await machine.values(INDEX);
      expect(older.map((text) => text.includes(line))).toEqual([true]);
    }
  }
  expect(readAll()).toContain("- anna 0\n");
  expect(readAll()).toContain("- cleo 1\n");
});

test("indexes that were made of nothing that both know keep all lines of both", async () => {
  const [d, e] = [await MemoryMachine.start("dora"), await MemoryMachine.start("emil")];
  d.save(INDEX, `# Memory\n\n${ONE}`);
  e.save(INDEX, `# Memory\n\n${TWO}`);
  await d.look();
  await e.look();
  await exchangeKept(d, e);
  await settleMemories(d, e);
  for (const line of [ONE, TWO]) {
    expect(d.read(INDEX)).toContain(line);
    expect(e.read(INDEX)).toContain(line);
  }
  for (const machine of [d, e]) await machine.remove();
});

test("a version that some other program wrote, which says nothing of itself, loses no line", async () => {
  edit(a, TWO, "");
  await a.look();
  await b.writeMemory(b.keyOf(INDEX), `${FIRST}- by a program\n`);
  await settleMemories(a, b, c);
  const text = readAll();
  for (const line of [ONE, TWO, THREE, "- by a program\n"]) expect(text).toContain(line);
});
