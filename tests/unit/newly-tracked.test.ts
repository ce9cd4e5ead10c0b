import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const OWN = `${START}\nAsk Ann first.\n`;
const NOTED = `${OWN}\nNever on Fridays.\n`;
const THEIRS = START.replace("make.", "make all.");
const LONG_MS = 120_000;

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ "other.md": "x\n" }));
  for (const each of [a, b]) await each.follow({ write: true });
  await lab.git.write(join(a.dir, FILE), OWN);
  await both();
  await lab.git.write(join(b.dir, FILE), NOTED);
  expect(await both()).toBe(NOTED);
  for (const each of [a, b]) await each.pass(LONG_MS);
});

async function both(): Promise<string> {
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  expect(await b.doc()).toBe(await a.doc());
  return await a.doc();
}

/** Somebody without memsync commits a file of their own. */
async function committedElsewhere(): Promise<void> {
  const other = lab.git.path("other");
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "other");
  await lab.git.write(join(other, FILE), THEIRS);
  await lab.git.run(other, "add", FILE);
  await lab.git.run(other, "commit", "-qm", "theirs");
  await lab.git.run(other, "push", "-q", "origin", "main");
}

/** git refuses to pull over a file that it does not track. What people do then. */
const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  "after the file was removed": async () => {
    rmSync(join(b.dir, FILE));
    await lab.run(b, "pull", "-q");
  },
  "after the file was removed, with a look between": async () => {
    rmSync(join(b.dir, FILE));
    await b.settle();
    await b.pass(LONG_MS);
    await b.settle();
    await lab.run(b, "pull", "-q");
  },
  "by a hard reset": async () => {
    await lab.run(b, "fetch", "-q");
    await lab.run(b, "reset", "-q", "--hard", "origin/main");
  },
  "after a stash": async () => {
    await lab.run(b, "stash", "-q", "-u");
    await lab.run(b, "pull", "-q");
  },
};

for (const [way, pull] of Object.entries(WAYS)) {
  test(`a commit of others that brings the file ${way} deletes no line`, async () => {
    await committedElsewhere();
    await pull();
    const text = await both();
    for (const line of ["Ask Ann first.", "Never on Fridays."]) expect(text).toContain(line);
    const told = JSON.stringify(await a.conflicts());
    expect(told).toContain("Ask Ann first.");
    expect(readFileSync(join(a.dir, FILE), "utf8")).toBe(text);
  });
}
