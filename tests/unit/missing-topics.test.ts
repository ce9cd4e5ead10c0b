import { beforeEach, expect, test } from "bun:test";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const INDEX = "MEMORY.md";
const TOPICS = [1, 2, 3, 4, 5, 6, 7];
const line = (n: number) => `- [Of ${n}](t${n}.md) — hint ${n}\n`;
const indexOf = (...topics: number[]) => `# Memory\n\n${topics.map(line).join("")}`;

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
  for (const n of TOPICS) a.save(`t${n}.md`, `topic ${n}\n`);
  a.save(INDEX, indexOf(...TOPICS));
  await settleMemories(a, b);
  await passMinute();
});

async function passMinute(): Promise<void> {
  for (const machine of [a, b]) machine.world.advance(61_000);
  await settleMemories(a, b);
}

/** Removes topics with their lines, as an assistant does. */
function forget(machine: MemoryMachine, ...topics: number[]): void {
  for (const n of topics) machine.drop(`t${n}.md`);
  let index = machine.read(INDEX) ?? "";
  for (const n of topics) index = index.replace(line(n), "");
  machine.save(INDEX, index);
}

function indexes(): (string | undefined)[] {
  return [a, b].map((machine) => machine.read(INDEX));
}

/** What is asked, and what is told, on a machine. */
function saidOf({ keeper }: MemoryMachine): string[] {
  return keeper.status.flatMap(({ asked, notes }) => [
    ...asked.map(({ name, asked: what }) => `${what} ${name}`),
    ...notes.map(({ why }) => why.code),
  ]);
}

for (const gone of [[3], [2, 3, 5], [1, 2, 3, 4, 5, 6]]) {
  test(`the lines of ${gone.length} topics that are asked about stay elsewhere`, async () => {
    const left = TOPICS.filter((n) => !gone.includes(n));
    forget(a, ...gone);
    await settleMemories(a, b);
    await passMinute();
    expect(indexes()).toEqual([indexOf(...left), indexOf(...TOPICS)]);
    expect(saidOf(a)).toEqual(gone.map((n) => `missing t${n}.md`));
    expect(saidOf(b)).toEqual([]);
    // What is written since, on either machine, brings and takes none of them.
    a.save("t8.md", "topic 8\n");
    a.save(INDEX, indexOf(...left, 8));
    await settleMemories(a, b);
    expect(indexes()).toEqual([indexOf(...left, 8), indexOf(...TOPICS, 8)]);
    b.save("t9.md", "topic 9\n");
    b.save(INDEX, indexOf(...TOPICS, 8, 9));
    await settleMemories(a, b);
    a.save(INDEX, `${a.read(INDEX)}- a note\n`);
    await settleMemories(a, b);
    await passMinute();
    const after = [indexOf(...left, 8, 9), indexOf(...TOPICS, 8, 9)];
    expect(indexes()).toEqual(after.map((each) => `${each}- a note\n`));
    expect([saidOf(a), saidOf(b)]).toEqual([gone.map((n) => `missing t${n}.md`), []]);
  });
}

test("what is brought back has its line again, and what is deleted has it nowhere", async () => {
  forget(a, 2, 3, 5);
  await settleMemories(a, b);
  await a.settle("t3.md", "restore");
  await a.settle("t5.md", "delete");
  await settleMemories(a, b);
  await passMinute();
  expect(indexes()).toEqual([indexOf(1, 3, 4, 6, 7), indexOf(1, 2, 3, 4, 6, 7)]);
  expect([a.read("t3.md"), await b.values("t5.md")]).toEqual(["topic 3\n", []]);
  expect([saidOf(a), saidOf(b)]).toEqual([["missing t2.md"], ["deleted t5.md"]]);
  await a.settle("t2.md", "delete");
  await settleMemories(a, b);
  expect(indexes()).toEqual([indexOf(1, 3, 4, 6, 7), indexOf(1, 3, 4, 6, 7)]);
  expect(saidOf(a)).toEqual([]);
});

test("a topic that is deleted elsewhere meanwhile loses its line, too", async () => {
  forget(a, 2, 3);
  await settleMemories(a, b);
  await b.writeMemory(b.keyOf("t2.md"), undefined);
  await settleMemories(a, b);
  expect(indexes()).toEqual([indexOf(1, 4, 5, 6, 7), indexOf(1, 3, 4, 5, 6, 7)]);
  expect([saidOf(a), saidOf(b)]).toEqual([["missing t3.md"], ["deleted t2.md"]]);
});

test("of a folder that was purged while others wrote into it no line leads nowhere", async () => {
  for (const name of [INDEX, ...TOPICS.map((n) => `t${n}.md`)]) a.drop(name);
  await a.look();
  b.save("t3.md", "topic 3\nmore\n");
  b.save("t8.md", "topic 8\n");
  b.save(INDEX, indexOf(...TOPICS, 8));
  await settleMemories(a, b);
  expect(indexes()).toEqual([undefined, indexOf(...TOPICS, 8)]);
  for (const name of [INDEX, ...TOPICS.map((n) => `t${n}.md`)]) await a.settle(name, "delete");
  await settleMemories(a, b);
  await passMinute();
  expect(indexes()).toEqual([indexOf(3, 8), indexOf(3, 8)]);
});

test("a folder that is purged whole, and meant so, has no index either", async () => {
  for (const name of [INDEX, ...TOPICS.map((n) => `t${n}.md`)]) a.drop(name);
  await settleMemories(a, b);
  for (const name of [...TOPICS.map((n) => `t${n}.md`), INDEX]) await a.settle(name, "delete");
  await settleMemories(a, b);
  expect(await b.values(INDEX)).toEqual([]);
  expect([a.files(), saidOf(a)]).toEqual([[], []]);
});

test("a line about two topics goes with the last one, and one of a topic that stands stays", async () => {
  const both = "- [Two](t1.md) and [three](t2.md)\n- [Two](t1.md) as [seven](t7.md)\n";
  a.save(INDEX, `${indexOf(...TOPICS)}${both}`);
  await settleMemories(a, b);
  await passMinute();
  const [first, second] = both.split("\n");
  a.drop("t1.md");
  a.drop("t2.md");
  a.save(INDEX, indexOf(3, 4, 5, 6, 7));
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe(`${indexOf(...TOPICS)}${first}\n`);
  expect(b.read(INDEX)).not.toContain(second ?? "");
  await a.settle("t1.md", "delete");
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe(`${indexOf(2, 3, 4, 5, 6, 7)}${first}\n`);
  await a.settle("t2.md", "delete");
  await settleMemories(a, b);
  expect(indexes()).toEqual([indexOf(3, 4, 5, 6, 7), indexOf(3, 4, 5, 6, 7)]);
});

test("a line that is taken out beside them goes, and a topic that is named in other words stays so", async () => {
  a.drop("t2.md");
  a.drop("t3.md");
  const other = "- what t3.md says was moved\n";
  a.save(INDEX, indexOf(1, 5, 6, 7).replace(line(5), `${other}${line(5)}`));
  await settleMemories(a, b);
  const [own, others] = indexes();
  expect(own).toBe(indexOf(1, 5, 6, 7).replace(line(5), `${other}${line(5)}`));
  expect(others?.split("\n").sort()).toEqual(`${own}${line(2)}`.split("\n").sort());
});

test("where the folder is read alone, nothing is said of lines that are asked about", async () => {
  a.mode = "read";
  forget(a, 2, 3);
  await settleMemories(a, b);
  expect(indexes()).toEqual([indexOf(1, 4, 5, 6, 7), indexOf(...TOPICS)]);
  expect(saidOf(a)).toEqual(["missing t2.md", "missing t3.md"]);
  a.save(INDEX, indexOf(1, 4, 5, 6));
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe(indexOf(1, 2, 3, 4, 5, 6));
  await a.settle("t2.md", "delete");
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe(indexOf(1, 3, 4, 5, 6));
});
