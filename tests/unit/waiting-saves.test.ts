import { expect, setDefaultTimeout, test } from "bun:test";
import { ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

/** Without the last section, so that a program may still be writing it. */
const HALF = "# Guide\n\nMended.\n";
const MENDED = START.replace("# Guide\n\n", HALF);

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

/** Two folders in no repository. */
async function startApart(): Promise<void> {
  ({ a, b } = await lab.apart());
  for (const each of [a, b]) await each.save(START);
  await exchange([a, b]);
}

/** What became of each save whose text has this, the latest first. */
async function outcomes(part: string): Promise<(string | undefined)[]> {
  const versions = await a.history();
  return versions.filter(({ value }) => value.includes(part)).map(({ save }) => save?.outcome);
}

/** The daemon ends without a word, and another one begins after `change`. */
async function restartAfter(change: () => void): Promise<void> {
  await a.stop();
  change();
  a = await lab.machine("a");
}

test("a text that may be half written is in the history at once, and stays there", async () => {
  await startApart();
  await a.saveAndLook(HALF);
  expect(await outcomes("Mended.")).toEqual(["waiting"]);
  await restartAfter(() => a.put(`${START}Other.\n`));
  await a.settle();
  expect(await outcomes("Mended.")).toEqual(["overtaken"]);
  expect(await a.doc()).toBe(`${START}Other.\n`);
});

test("a text of a tracked file is in the history before it has been quiet for a second", async () => {
  ({ a } = await lab.pair({ [FILE]: START }));
  await a.saveAndLook(MENDED);
  expect(await a.doc()).toBe(START);
  expect(await outcomes("Mended.")).toEqual(["waiting"]);
  await restartAfter(() => a.put(`${START}Other.\n`));
  await a.settle();
  expect(await outcomes("Mended.")).toEqual(["overtaken"]);
  await a.save(`${START}Other.\nThird.\n`);
  expect(await outcomes("Third.")).toEqual(["taken"]);
});

test("a text that waited, and is taken back, is told as saved over", async () => {
  await startApart();
  await a.saveAndLook(HALF);
  await a.saveAndLook(START);
  expect(await outcomes("Mended.")).toEqual(["overtaken"]);
});

test("what git writes into a tracked file is no save that waits", async () => {
  ({ a } = await lab.pair({ [FILE]: START }));
  await a.save(MENDED);
  const before = (await a.saves()).outcomes;
  await lab.git.run(a.dir, "checkout", "--", FILE);
  await a.saveAndLook(a.file());
  expect((await a.saves()).outcomes).toEqual(before);
});

test("a program that writes slowly pushes nothing out of the history", async () => {
  await startApart();
  const last = `${"A longer line of words. ".repeat(20)}\n`;
  const before = await a.saves();
  for (let length = 5; length < last.length; length += 5) {
    await a.saveAndLook(START + last.slice(0, length));
    await a.pass(100);
    expect((await a.saves()).outcomes.length).toBe(before.outcomes.length + 1);
  }
  await a.saveAndLook(START + last);
  const after = await a.saves();
  expect(after.outcomes).toEqual([...before.outcomes, "taken"]);
  expect(after.texts.filter((text) => text.includes("A longer"))).toEqual([]);
});

test("whole lines of a text that waited arrive once its file is gone", async () => {
  await startApart();
  await a.saveAndLook(HALF);
  a.remove();
  await a.settleAfterGrace();
  expect(await a.doc()).toBe(MENDED);
  expect(await outcomes("Mended.")).toContain("taken");
});

test("whole lines of a text that waited arrive, though the daemon ends before its file goes", async () => {
  await startApart();
  await a.saveAndLook(HALF);
  await restartAfter(() => a.remove());
  await a.settleAfterGrace();
  expect(await a.doc()).toBe(MENDED);
  expect(await outcomes("Mended.")).toContain("taken");
});

test("what waits in a file that has lost its name is in the history at once", async () => {
  await startApart();
  const handle = openSync(join(a.dir, FILE), "r+");
  await b.save(`Of b.\n\n${START}`);
  await exchange([a, b]);
  ftruncateSync(handle);
  writeSync(handle, HALF, 0);
  await a.saveAndLook(a.file());
  expect(await a.doc()).toBe(`Of b.\n\n${START}`);
  expect(await outcomes("Mended.")).toHaveLength(1);
  await a.pass(5000);
  await a.settle();
  expect(await a.doc()).toBe(`Of b.\n\n${HALF}`);
  expect(await outcomes("Mended.")).toEqual(["taken"]);
});
