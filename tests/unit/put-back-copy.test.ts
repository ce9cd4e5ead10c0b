import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { LONG_MS } from "../support/followed-clones.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const text = (...lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
const BASE = text("# r", "one", "two", "three", "four", "five", "six");
const CHANGED = text("# r", "one", "three", "four, by b", "five", "six");

const lab = foldersOfEach();

/** Two machines, of which the second has made its changes long ago. */
async function changedLongAgo(...changes: readonly string[]) {
  const [a, b] = await lab.pair(BASE);
  for (const change of changes) {
    await b.save(change);
    await exchange([a, b]);
    await passLong([a, b]);
  }
  expect(a.file()).toBe(changes.at(-1) ?? BASE);
  return [a, b] as const;
}

async function passLong(machines: readonly FollowedMachine[]): Promise<void> {
  for (const machine of machines) {
    await machine.pass(LONG_MS);
    await machine.settle();
  }
}

async function saidIn(machine: FollowedMachine): Promise<string[]> {
  const conflicts = await machine.conflicts();
  return conflicts.flatMap(({ versions }) => versions.map((each) => each.text)).sort();
}

test("an old copy undoes nothing of others untold, however it comes into the file's place", async () => {
  const [a, b] = await changedLongAgo(CHANGED);
  await a.save(BASE);
  await exchange([a, b]);
  const both = text("# r", "one", "two", "three", "four, by b", "four", "five", "six");
  expect([a.file(), b.file()].map((each) => each.split("\n").sort())).toEqual([
    both.split("\n").sort(),
    both.split("\n").sort(),
  ]);
  expect(await saidIn(b)).toContain("four, by b\n");
  expect((await saidIn(b)).join("")).toContain("two\n");
  const by = (await b.conflicts()).flatMap(({ versions }) => versions.map((each) => each.machine));
  expect(new Set(by)).toEqual(new Set(["a", "b"]));
});

test("lines that others wrote at two places and an old copy lacks stay, and that is told", async () => {
  const added = text(
    "# r",
    "one",
    "one, by b",
    "two",
    "three",
    "four",
    "four, by b",
    "five",
    "six",
  );
  const [a, b] = await changedLongAgo(added);
  await a.save(BASE);
  await exchange([a, b]);
  expect([a.file(), b.file()]).toEqual([added, added]);
  expect((await saidIn(a)).join("")).toBe(await saidIn(b).then((said) => said.join("")));
  expect((await saidIn(b)).join("")).toContain("four, by b\n");
});

test("who takes out what others wrote at one place means it, though the text is an earlier one", async () => {
  const added = BASE.replace("four\n", "four\n\n## By b\n\n- first\n- second\n\n");
  const [a, b] = await changedLongAgo(added);
  await a.save(BASE);
  await exchange([a, b]);
  expect([await a.doc(), b.file()]).toEqual([BASE, BASE]);
  expect(await a.conflicts()).toEqual([]);
});

test("who goes back step by step means each step", async () => {
  const first = BASE.replace("one\n", "one\none, by b\n");
  const second = first.replace("four\n", "four, by b\n");
  const [a, b] = await changedLongAgo(first, second);
  await a.save(first);
  await a.save(BASE);
  await exchange([a, b]);
  expect([await a.doc(), b.file()]).toEqual([BASE, BASE]);
  expect(await a.conflicts()).toEqual([]);
});

test("an old copy that undoes one's own edits alone is an edit", async () => {
  const [a, b] = await lab.pair(BASE);
  await a.save(CHANGED);
  await exchange([a, b]);
  await passLong([a, b]);
  await a.save(BASE);
  await exchange([a, b]);
  expect([await a.doc(), b.file()]).toEqual([BASE, BASE]);
  expect(await a.conflicts()).toEqual([]);
});

test("an old copy undoes one's own edits, and not what others wrote since", async () => {
  const [a, b] = await lab.pair(BASE);
  const own = BASE.replace("six", "six, by a");
  await a.save(own);
  await exchange([a, b]);
  await passLong([a, b]);
  await b.save(CHANGED.replace("six", "six, by a"));
  await exchange([a, b]);
  await passLong([a, b]);
  await a.save(BASE);
  await exchange([a, b]);
  const lines = b.file().split("\n");
  expect(lines).toContain("four, by b");
  expect(lines).toContain("six");
  expect(lines).not.toContain("six, by a");
});

test("who saves the old copy once more, a minute after that was told, means it", async () => {
  const [a, b] = await changedLongAgo(CHANGED);
  await a.save(BASE);
  await exchange([a, b]);
  await a.save(BASE);
  expect(a.file()).toContain("four, by b");
  await passLong([a, b]);
  await a.save(BASE);
  await exchange([a, b]);
  expect([await a.doc(), b.file()]).toEqual([BASE, BASE]);
});

test("what others wrote after that was told stays as well", async () => {
  const [a, b] = await changedLongAgo(CHANGED);
  await a.save(BASE);
  await exchange([a, b]);
  await passLong([a, b]);
  await b.save(a.file().replace("five", "five, by b").replace("# r", "# r, by b"));
  await exchange([a, b]);
  await passLong([a, b]);
  await a.save(BASE);
  await exchange([a, b]);
  expect(b.file()).toContain("five, by b\n");
  expect(b.file()).toContain("# r, by b\n");
  expect(b.file()).not.toContain("four, by b\n");
});

test("an old copy of a file that was gone for seconds is told at one place, too", async () => {
  const added = BASE.replace("four\n", "four\nfour, by b\n");
  const [a, b] = await changedLongAgo(added);
  a.remove();
  await a.look();
  await a.pass(2000);
  await a.save(BASE);
  await exchange([a, b]);
  expect([a.file(), b.file()]).toEqual([added, added]);
  expect(await saidIn(b)).toContain("four, by b\n");
});
