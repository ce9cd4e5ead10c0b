import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, followText, LONG_MS } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

setDefaultTimeout(60_000);

const GEMINI = "GEMINI.md";
const OLD = "# Rules\n\none\ntwo, a rule that is wrong\nthree\nfour\nfive\n";
const WITHOUT = OLD.replace("two, a rule that is wrong\n", "");
const MENDED = WITHOUT.replace("four\n", "four by b\n");

const lab = clonesOfEach();
/** Two machines that have followed the text for long, and one with a copy of the file from then. */
let a: FollowedMachine;
let b: FollowedMachine;
let third: FollowedMachine;

beforeEach(async () => {
  a = await lab.folder("a");
  b = await lab.folder("b");
  third = await lab.folder("third");
  await followText({ a, b }, { name: FILE, text: OLD });
  third.put(OLD);
});

/** b changes the text, long after the copy was made, and all that are linked have that. */
async function change(text: string): Promise<void> {
  await b.save(text);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(LONG_MS);
  await exchange([a, b]);
  expect([await a.doc(), a.file()]).toEqual([text, text]);
}

/** A machine that follows nothing yet gets the text, and meets its file. */
async function meet(machine: FollowedMachine): Promise<void> {
  await exchange([a, b, machine]);
  await machine.follow();
  await exchange([a, b, machine]);
}

/** The one conflict that every machine shows. */
async function told() {
  const all = await Promise.all([a, b, third].map((each) => each.conflicts()));
  const [conflict, ...more] = all[0] ?? [];
  expect(more).toEqual([]);
  for (const each of all) expect(each.map(({ id }) => id)).toEqual(conflict ? [conflict.id] : []);
  return conflict?.versions.map(({ text, machine }) => [machine, text]);
}

/** Everybody has this text in document and file, and nothing is in question. */
async function expectSettled(text: string): Promise<void> {
  await exchange([a, b, third]);
  for (const each of [a, b, third]) {
    expect([await each.doc(), each.file(), await each.listed()]).toEqual([text, text, []]);
  }
}

/** As `conflicts choose` does, on a machine that did nothing. */
async function choose(version: string): Promise<void> {
  await b.drain(await b.choiceOf(version));
}

test("an old copy that is met brings a deleted line back, and every machine says so", async () => {
  await change(WITHOUT);
  await meet(third);
  for (const each of [a, b, third]) expect(await each.doc()).toBe(OLD);
  expect(await told()).toEqual([
    [undefined, ""],
    ["third", "two, a rule that is wrong\n"],
  ]);
});

test("an old copy that is met leaves the document's text to whoever chooses it", async () => {
  await change(WITHOUT);
  await meet(third);
  await choose("");
  await expectSettled(WITHOUT);
});

test("an old copy that is met stays as it is for whoever chooses it", async () => {
  await change(WITHOUT);
  await meet(third);
  await choose("two, a rule that is wrong\n");
  await expectSettled(OLD);
});

test("an old copy that is met is shown with both sides of every place, and either text can be chosen", async () => {
  await change(MENDED);
  await meet(third);
  expect(await told()).toEqual([
    ["b", "four by b\n"],
    ["third", "two, a rule that is wrong\nfour\n"],
  ]);
  for (const line of ["two, a rule that is wrong", "four", "four by b"]) {
    expect((await a.doc()).split("\n")).toContain(line);
  }
  await choose("four by b\n");
  await expectSettled(MENDED);
});

test("an old copy that is met is the whole text again for whoever chooses the file's side", async () => {
  await change(MENDED);
  await meet(third);
  await choose("two, a rule that is wrong\nfour\n");
  await expectSettled(OLD);
});

test("an old copy that is met brings a cleared text back, and every machine says so", async () => {
  await b.setDoc("");
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(LONG_MS);
  await meet(third);
  expect(await told()).toEqual([
    [undefined, ""],
    ["third", OLD],
  ]);
});

test("an old copy that is met is nothing to tell where it only lacks lines, or nothing", async () => {
  await change(`${OLD}six by b\n`);
  await meet(third);
  expect(await told()).toBeUndefined();
  await expectSettled(`${OLD}six by b\n`);
});

test("who met it tells who deleted a line, where that machine has seen it", async () => {
  await change(WITHOUT);
  a.put(OLD, GEMINI);
  await a.follow({ also: [GEMINI] });
  await meet(third);
  expect(await told()).toEqual([
    ["b", ""],
    ["a", "two, a rule that is wrong\n"],
  ]);
});

test("who deleted a line is told as well where the document has lines of its own", async () => {
  await change(MENDED);
  a.put(OLD, GEMINI);
  await a.follow({ also: [GEMINI] });
  await meet(third);
  const [conflict] = await third.conflicts();
  expect(conflict?.versions).toMatchObject([
    { text: "four by b\n", machine: "b", removed: { machine: "b", at: expect.any(Number) } },
    { text: "two, a rule that is wrong\nfour\n", machine: "a", removed: undefined },
  ]);
});

test("a file that is made anew from an old copy is told as one that is met", async () => {
  await change(WITHOUT);
  a.remove();
  await a.settleAfterGrace();
  await a.save(OLD);
  await exchange([a, b, third]);
  expect(await told()).toEqual([
    ["b", ""],
    ["a", "two, a rule that is wrong\n"],
  ]);
});
