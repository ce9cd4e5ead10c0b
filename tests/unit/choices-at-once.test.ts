import { expect, setDefaultTimeout, test } from "bun:test";
import type { InboxWrite } from "../../daemon/inbox/inbox.ts";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const BASE = "# Widget\n\n## Build\n\n- install\n- run lint\n- pack\n\n## Test\n\n- start db\n";
const saying = (...lines: readonly string[]) =>
  BASE.replace("- run lint\n", lines.map((line) => `- run ${line}\n`).join(""));

const lab = foldersOfEach();

async function withConflict(): Promise<readonly [FollowedMachine, FollowedMachine]> {
  const machines = await lab.savedApart(BASE, [saying("tests"), saying("checks")]);
  await exchange(machines);
  for (const each of machines) expect(await each.conflicts()).toHaveLength(1);
  return machines;
}

async function versionsOf(machine: FollowedMachine): Promise<string[][]> {
  const open = (await machine.conflicts()).filter(({ kind }) => kind === "both");
  return open.map(({ versions }) => versions.map(({ text }) => text).sort());
}

/** Each choice is made before the machine has heard of the other one. */
async function bothChoose([a, b]: readonly [FollowedMachine, FollowedMachine]) {
  return [await a.choiceOf("- run tests\n"), await b.choiceOf("- run checks\n")] as const;
}

test("a choice made before another machine's arrived, and applied after it, stands beside that", async () => {
  const [a, b] = await withConflict();
  const [ofA, ofB] = await bothChoose([a, b]);
  await a.drain(ofA);
  expect(a.file()).toBe(saying("tests"));
  await b.receive(a);
  await b.drain(ofB);
  await exchange([a, b]);
  const lines = b
    .file()
    .split("\n")
    .filter((line) => line.startsWith("- run "));
  expect(lines.sort()).toEqual(["- run checks", "- run tests"]);
  for (const each of [a, b]) {
    expect(await versionsOf(each)).toEqual([["- run checks\n", "- run tests\n"]]);
  }
});

test("a text that is restored while another machine's choice arrives takes nothing of that away", async () => {
  const [a, b] = await withConflict();
  const [ofA, ofB] = [await a.choiceOf("- run tests\n"), await b.restoreOf(BASE)];
  await a.drain(ofA);
  await b.receive(a);
  await b.drain(ofB);
  await exchange([a, b]);
  for (const each of [a, b]) {
    const lines = each
      .file()
      .split("\n")
      .filter((line) => line.startsWith("- run "));
    expect(lines.sort()).toEqual(["- run lint", "- run tests"]);
    expect(await versionsOf(each)).toEqual([["- run lint\n", "- run tests\n"]]);
  }
});

test("what two machines choose alike stands once and without a conflict, whenever it arrives", async () => {
  const [a, b] = await withConflict();
  const choices: readonly InboxWrite[][] = [
    await a.choiceOf("- run tests\n"),
    await b.choiceOf("- run tests\n"),
  ];
  await a.drain(choices[0] ?? []);
  await b.receive(a);
  await b.drain(choices[1] ?? []);
  await exchange([a, b]);
  for (const each of [a, b]) {
    expect(each.file()).toBe(saying("tests"));
    expect(await each.conflicts()).toEqual([]);
  }
});

test("a line that another machine wrote elsewhere meanwhile stays beside a choice", async () => {
  const [a, b] = await withConflict();
  const ofB = await b.choiceOf("- run checks\n");
  await a.save(a.file().replace("- start db\n", "- start db\n- stop db\n"));
  await b.receive(a);
  await b.drain(ofB);
  await exchange([a, b]);
  for (const each of [a, b]) {
    expect(each.file()).toBe(`${saying("checks")}- stop db\n`);
    expect(await each.conflicts()).toEqual([]);
  }
});

const THREE = { a: "- a one\n- a two\n- a three\n", b: "- b one\n- b two\n- b three\n" };

for (const first of [0, 1] as const) {
  test(`a line written into a version that another machine's choice takes out is told, heard by ${first} first`, async () => {
    const texts = [THREE.a, THREE.b].map((lines) => BASE.replace("- run lint\n", lines));
    const [a, b] = await lab.savedApart(BASE, texts as [string, string]);
    await exchange([a, b]);
    for (const each of [a, b]) await each.pass(120_000);
    await a.drain(await a.choiceOf(THREE.b));
    await b.save(b.file().replace("- a two\n", "- a two\n- inserted\n"));
    await (first === 0 ? a.receive(b) : b.receive(a));
    await exchange([a, b]);
    for (const each of [a, b]) {
      expect(each.file()).toBe(BASE.replace("- run lint\n", `- inserted\n${THREE.b}`));
      expect(await versionsOf(each)).toEqual([
        ["", THREE.a.replace("- a two\n", "- a two\n- inserted\n")],
      ]);
    }
  });
}

const SECRET = `token = "ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}"\n`;

test("a choice whose text is held leaves its conflict open, and what was written before it enters", async () => {
  const [a] = await withConflict();
  const choice = await a.choiceOf("- run tests\n");
  const before = await a.doc();
  const earlier: InboxWrite = {
    ...(await a.restoreOf(`${before}- earlier\n`)).find(({ kind }) => kind === "text"),
    writtenAt: 1,
  } as InboxWrite;
  const withSecret = choice.map((write): InboxWrite => {
    if (write.kind !== "text") return write;
    const base = write.base === before ? `${before}- earlier\n` : write.base;
    return { ...write, base, value: `${write.value}${SECRET}` };
  });
  await a.drain([earlier, ...chained(withSecret)]);
  expect(await a.doc()).toBe(`${before}- earlier\n`);
  expect(await a.conflicts()).toHaveLength(1);
});

/** Each text is based on the one before it. */
function chained(writes: readonly InboxWrite[]): InboxWrite[] {
  let last: string | undefined;
  return writes.map((write) => {
    if (write.kind !== "text") return write;
    const base = last ?? write.base;
    last = write.value;
    return { ...write, base };
  });
}
