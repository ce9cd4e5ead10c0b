import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const version = (line: string) => `${START}\n${line}\n`;

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ "README.md": "x\n" }));
  for (const each of [a, b]) await each.save(START);
  await exchange([a, b]);
});

test("each of three saves is in the history, though a look took longer than all of them", async () => {
  const release = await a.holdLook();
  for (const line of ["One.", "Two.", "Three."]) await a.saveDuringLook(version(line));
  await release();
  expect(await a.doc()).toBe(version("Three."));
  const { outcomes, texts } = await a.saves();
  expect(outcomes.slice(-3)).toEqual(["overtaken", "overtaken", "taken"]);
  for (const line of ["One.", "Two."]) expect(texts).toContain(version(line));
});

test("a save that was undone before a look could take it is in the history", async () => {
  const release = await a.holdLook();
  for (const text of [version("One."), version("Two."), START]) await a.saveDuringLook(text);
  await release();
  expect(await a.doc()).toBe(START);
  const { outcomes, texts } = await a.saves();
  expect(outcomes).toContain("overtaken");
  expect(texts).toContain(version("Two."));
});

test("a save that was taken is in the history once, though others' lines were written over it", async () => {
  await b.save(version("Of b."));
  await exchange([a, b]);
  const before = (await a.saves()).outcomes.length;
  await a.save(version("Of a."));
  await exchange([a, b]);
  await a.settle();
  expect((await a.saves()).outcomes.slice(before)).toEqual(["conflict"]);
});

test("an empty file that a program is about to write is no save that was overtaken", async () => {
  const release = await a.holdLook();
  for (const text of [version("One."), "", version("Two.")]) await a.saveDuringLook(text);
  await release();
  expect((await a.saves()).texts).not.toContain("");
});

test("what git checked out and took away again is no save that was overtaken", async () => {
  await lab.run(a, "add", FILE);
  await lab.run(a, "commit", "-qm", "x");
  await a.settle();
  const before = (await a.saves()).outcomes.length;
  const release = await a.holdLook();
  await lab.commit(a, version("One."));
  await a.saveDuringLook(version("One."));
  await lab.run(a, "reset", "-q", "--hard", "HEAD~1");
  await lab.commit(a, version("Two."));
  await a.saveDuringLook(version("Two."));
  await release();
  expect((await a.saves()).outcomes.slice(before)).not.toContain("overtaken");
});

for (const isAdded of [false, true]) {
  const how = isAdded ? ", though it was added" : "";
  test(`what was saved and saved over before a commit is in the history${how}, for git does not keep it`, async () => {
    await lab.run(a, "add", FILE);
    await lab.run(a, "commit", "-qm", "x");
    await a.settle();
    const release = await a.holdLook();
    await a.saveDuringLook(version("One."));
    if (isAdded) await lab.run(a, "add", FILE);
    await lab.commit(a, version("Two."));
    await a.saveDuringLook(version("Two."));
    await a.saveDuringLook(version("Three."));
    await release();
    const { texts } = await a.saves();
    expect(texts).toContain(version("One."));
    expect(texts).not.toContain(version("Two."));
  });
}

test("a save that was committed afterwards and left, before a look could take it, is in the history", async () => {
  await lab.run(a, "add", FILE);
  await lab.run(a, "commit", "-qm", "x");
  await a.settle();
  const release = await a.holdLook();
  await a.saveDuringLook(version("One."));
  await lab.git.commit(a.dir, { [FILE]: version("One.") }, "2030-01-01T00:00:00Z");
  await lab.run(a, "reset", "-q", "--hard", "HEAD~1");
  await lab.commit(a, version("Two."));
  await release();
  expect((await a.saves()).texts).toContain(version("One."));
});

test("each save of a tracked file is in the history, though it was never quiet in between", async () => {
  await lab.run(a, "add", FILE);
  await lab.run(a, "commit", "-qm", "x");
  await a.settle();
  for (const line of ["One.", "Two.", "Three."]) await a.saveAndLook(version(line));
  await a.settle();
  expect(await a.doc()).toBe(version("Three."));
  const { texts } = await a.saves();
  for (const line of ["One.", "Two."]) expect(texts).toContain(version(line));
});
