import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { bothHaveAll, clonesOfEach, FILE } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\nalpha\nbeta\ngamma\n";
const THEIRS = "beta changed by B\n";
const MENDED = "beta mended\n";

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

/** A discards a line of B, mends the one that git puts in its place, and nobody has looked yet. */
beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
  for (const each of [a, b]) await each.follow({ write: true });
  await b.save(START.replace("beta\n", THEIRS));
  await both();
  expect(a.file()).toBe(START.replace("beta\n", THEIRS));
  await lab.run(a, "checkout", "--", FILE);
  expect(a.file()).toBe(START);
  await both();
  const [conflict, ...more] = await a.conflicts();
  expect([conflict?.kind, more]).toEqual(["set-aside", []]);
});

const both = async () => (await bothHaveAll({ a, b })).text;

function mend(): void {
  a.put(START.replace("beta\n", MENDED));
}

test("what git put back stands once, as it was mended, where the conflict is dismissed before a look", async () => {
  const [id = ""] = await a.listed();
  mend();
  await a.dismiss(id);
  const lines = (await both()).split("\n");
  expect(lines).toEqual(expect.arrayContaining(["beta mended", "beta changed by B"]));
  expect(lines).not.toContain("beta");
  expect(a.file()).toBe(await a.doc());
});

test("what git put back stands once, as it was mended, where it is chosen before a look", async () => {
  const choice = await a.choiceOf("beta\n");
  mend();
  await a.drain(choice);
  expect(await both()).toBe(START.replace("beta\n", MENDED));
});

test("what was mended and what is chosen before a look both stay, and are told", async () => {
  const choice = await a.choiceOf(THEIRS);
  mend();
  await a.drain(choice);
  const lines = (await both()).split("\n");
  expect(lines).toEqual(expect.arrayContaining(["beta mended", "beta changed by B"]));
  expect(await a.listed()).toHaveLength(1);
  await b.drain(await b.choiceOf(MENDED));
  expect(await both()).toBe(START.replace("beta\n", MENDED));
  expect(await a.listed()).toEqual([]);
});
