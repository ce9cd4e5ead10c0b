import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- one\n- two\n\n## Test\n\n- make test\n\n## Ship\n\n- ship\n";
const THEIRS = START.replace("- two\n", "- two\n- three\n").replace("- make test\n", "");

const lab = clonesOfEach();
let a: FollowedMachine;

beforeEach(async () => {
  ({ a } = await lab.pair({ [FILE]: START }));
});

/** Somebody who has not memsync pushes a commit. */
async function pushed(text: string, name: string, branch = "main"): Promise<void> {
  const other = lab.git.path(name);
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", name);
  await lab.git.run(other, "checkout", "-q", "-B", branch);
  await lab.git.write(join(other, FILE), text);
  await lab.git.run(other, "commit", "-qam", name);
  await lab.git.run(other, "push", "-q", "origin", branch);
}

/** A new machine clones what is there, has A's document, and follows the clone. */
async function cloned(write: boolean): Promise<FollowedMachine> {
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "c");
  const c = await lab.open("c");
  await c.receive(a);
  await c.follow({ write });
  return c;
}

/** Long enough for a look to find that everybody has seen what git has brought. */
async function seen(at: FollowedMachine): Promise<void> {
  for (const milliseconds of [60_000, 60_000]) await at.pass(milliseconds);
}

for (const write of [false, true]) {
  const how = write ? ", with consent to write" : "";
  test(`a clone that is newer than what others have read is an edit of that${how}`, async () => {
    await pushed(THEIRS, "other");
    const c = await cloned(write);
    expect([c.file(), await c.doc(), await c.listed()]).toEqual([THEIRS, THEIRS, []]);
    await exchange([a, c]);
    await lab.run(a, "pull", "-q");
    await a.settle();
    await exchange([a, c]);
    expect([a.file(), await a.doc(), await a.listed()]).toEqual([THEIRS, THEIRS, []]);
  });
}

test("what others saved and did not commit stays beside what a newer clone brings", async () => {
  const saved = START.replace("- ship\n", "- ship on Monday\n").replace("- one\n", "");
  await a.save(saved);
  await pushed(THEIRS, "other");
  const c = await cloned(true);
  const all = THEIRS.replace("- ship\n", "- ship on Monday\n").replace("- one\n", "");
  expect([c.file(), await c.doc()]).toEqual([all, all]);
});

test("a clone of what others have read already changes nothing", async () => {
  await pushed(THEIRS, "other");
  await lab.run(a, "pull", "-q");
  await a.settle();
  await seen(a);
  await a.save(START);
  const c = await cloned(true);
  expect([c.file(), await c.doc(), await c.listed()]).toEqual([START, START, []]);
});

test("a newer clone that merges two commits that others have read brings what is new alone", async () => {
  await pushed(START.replace("- ship\n", "- ship\n- tell\n"), "tell", "side");
  await pushed(THEIRS, "other");
  await lab.run(a, "pull", "-q");
  await a.settle();
  await lab.run(a, "fetch", "-q");
  await lab.run(a, "merge", "-q", "--no-edit", "origin/side");
  await a.settle();
  const merged = THEIRS.replace("- ship\n", "- ship\n- tell\n");
  expect(await a.doc()).toBe(merged);
  await lab.run(a, "push", "-q");
  await seen(a);
  // What lacks the end of a text waits longer, and then for the quiet second.
  await a.save(merged.replace("- tell\n", ""));
  await a.settle();
  expect(await a.doc()).toBe(THEIRS);
  await pushed(merged.replace("- one\n", "- one, first\n"), "more");
  const c = await cloned(true);
  const all = THEIRS.replace("- one\n", "- one, first\n");
  expect([c.file(), await c.doc(), await c.listed()]).toEqual([all, all, []]);
});

test("a history that was pushed anew is not written over while its lines are in a conflict", async () => {
  await a.follow({ write: true });
  const mine = START.replace("- ship\n", "- ship on Monday\n");
  await lab.commit(a, mine);
  await a.settle();
  await lab.run(a, "push", "-q");
  const other = lab.git.path("other");
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "other");
  await lab.git.write(join(other, FILE), THEIRS);
  await lab.git.run(other, "commit", "-qa", "--amend", "-m", "anew");
  await lab.git.run(other, "push", "-qf", "origin", "main");
  await a.pass(120_000);
  await lab.run(a, "fetch", "-q");
  await lab.run(a, "reset", "-q", "--hard", "origin/main");
  await a.settle();
  expect([a.file(), await a.doc()]).toEqual([THEIRS, mine]);
  expect(a.status).toMatchObject({ why: { code: "leave-aside" } });
  // Who watches the log, and asks for no status, is told, too: once.
  const told = "a file gets nothing until a conflict is settled";
  await a.save(`${THEIRS}- typed\n`);
  await a.save(THEIRS);
  expect(a.warned.filter((each) => each === told)).toEqual([told]);
  await a.drain(await a.choiceOf("- three\n"));
  expect(await a.doc()).toContain("- three\n");
  expect(a.file()).toBe(await a.doc());
});
