import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TextConflictRecord } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\nBuild with make.\n\nTest with make test.\n";
const NOTED = `${START}\nAsk Ann first.\n\nNever on Fridays.\n`;
const LONG_MS = 120_000;

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
});

const read = (at: FollowedMachine) => readFileSync(join(at.dir, FILE), "utf8");
const write = (at: FollowedMachine, text: string) => lab.git.write(join(at.dir, FILE), text);

const isUntrackedAtTimes = (way: string) =>
  way === "begun as a new repository and reset, while it is looked at";
const kinds = (conflicts: readonly TextConflictRecord[]) =>
  conflicts.map(({ kind }) => kind).sort();

/** What both have after an exchange. */
async function both(): Promise<string> {
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  expect(await b.doc()).toBe(await a.doc());
  return await a.doc();
}

/** B's lines are on both machines, saved and not committed, for long. */
async function noted(consent: boolean): Promise<void> {
  await a.follow({ write: consent });
  await write(b, NOTED);
  expect(await both()).toBe(NOTED);
  if (consent) expect(read(a)).toBe(NOTED);
  for (const each of [a, b]) await each.pass(LONG_MS);
}

/** What somebody does to have a fresh start; the folder itself stays. */
const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  "cloned into the emptied folder": () => {
    for (const name of readdirSync(a.dir)) rmSync(join(a.dir, name), { recursive: true });
    return lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
  },
  "begun as a new repository and reset to what is there": async () => {
    rmSync(join(a.dir, ".git"), { recursive: true });
    await lab.run(a, "init", "-qb", "main");
    await lab.run(a, "remote", "add", "origin", lab.git.path("origin.git"));
    await lab.run(a, "fetch", "-q");
    await lab.run(a, "reset", "-q", "--hard", "origin/main");
  },
  "cloned into, while it is looked at": async () => {
    for (const name of readdirSync(a.dir)) rmSync(join(a.dir, name), { recursive: true });
    await a.settle();
    await a.pass(LONG_MS);
    await a.settle();
    await lab.git.run(lab.git.folder, "clone", "-q", "-n", "origin.git", "a");
    await a.settle();
    await lab.run(a, "checkout", "-q", "main");
  },
  "begun as a new repository and reset, while it is looked at": async () => {
    rmSync(join(a.dir, ".git"), { recursive: true });
    await a.settle();
    await lab.run(a, "init", "-qb", "main");
    await a.settle();
    await lab.run(a, "remote", "add", "origin", lab.git.path("origin.git"));
    await lab.run(a, "fetch", "-q");
    await a.settle();
    await lab.run(a, "reset", "-q", "--hard", "origin/main");
  },
};

for (const [way, start] of Object.entries(WAYS)) {
  for (const consent of [true, false]) {
    const who = consent ? "with consent to write" : "without consent to write";
    test(`a folder that is ${way} deletes no line of others, ${who}`, async () => {
      await noted(consent);
      await start();
      expect(await both()).toBe(NOTED);
      expect(read(a)).toBe(consent ? NOTED : START);
      expect(read(b)).toBe(NOTED);
      // A file that is none of git's is written to without consent, so it had the lines.
      const had = consent || isUntrackedAtTimes(way);
      expect(kinds(await b.conflicts())).toEqual(had ? ["renewed"] : []);
    });
  }

  test(`in a folder that is ${way}, others' commits and lines are all there`, async () => {
    await noted(true);
    const other = lab.git.path("other");
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "other");
    await lab.git.write(join(other, FILE), START.replace("make.", "make all."));
    await lab.git.run(other, "commit", "-qam", "x");
    await lab.git.run(other, "push", "-q", "origin", "main");
    await start();
    const text = await both();
    // Once the file was no file of git's, nobody can say which commit it came from.
    if (isUntrackedAtTimes(way)) {
      expect(text).toBe(NOTED);
      expect(kinds(await b.conflicts())).toEqual(["elsewhere", "renewed"]);
    } else expect(text).toBe(NOTED.replace("make.", "make all."));
  });

  test(`what is saved in a folder that is ${way} is an edit`, async () => {
    await noted(true);
    await start();
    await write(a, START.replace("make.", "make all."));
    expect(await both()).toBe(NOTED.replace("make.", "make all."));
    // Not as a commit has it, which would be git's.
    const own = START.replace("make.", "just.");
    await write(a, own);
    expect(await both()).toBe(own);
  });
}

test("a folder that is cloned anew also keeps what was never committed and only here", async () => {
  await a.follow({ write: true });
  await write(a, NOTED);
  expect(await both()).toBe(NOTED);
  await a.pass(LONG_MS);
  await WAYS["cloned into the emptied folder"]?.();
  expect(await both()).toBe(NOTED);
});

test("a folder that is restored from a copy with older text deletes no line of others", async () => {
  await a.follow({ write: true });
  await write(a, `${START}\nAsk Ann first.\n`);
  await both();
  const copy = lab.git.path("copy");
  cpSync(a.dir, copy, { recursive: true });
  await write(b, NOTED);
  expect(await both()).toBe(NOTED);
  for (const each of [a, b]) await each.pass(LONG_MS);
  for (const name of readdirSync(a.dir)) rmSync(join(a.dir, name), { recursive: true });
  cpSync(copy, a.dir, { recursive: true });
  expect(await both()).toBe(NOTED);
  expect(read(a)).toBe(NOTED);
});

test("a conflict of a folder cloned anew takes the lines away on all machines", async () => {
  await noted(true);
  await WAYS["cloned into the emptied folder"]?.();
  expect(await both()).toBe(NOTED);
  const [conflict] = await a.conflicts();
  const own = conflict?.versions.findIndex(({ text }) => text.trim() === "") ?? -1;
  expect(own).toBeGreaterThan(-1);
  await a.drain(await a.choiceOf(conflict?.versions[own]?.text ?? "", conflict?.id));
  expect(await both()).toBe(START);
  expect(read(a)).toBe(START);
});

test("what was committed here, and is nowhere in what is cloned anew, stays", async () => {
  await a.follow({ write: true });
  await lab.commit(a, NOTED);
  expect(await both()).toBe(NOTED);
  await a.pass(LONG_MS);
  await WAYS["cloned into the emptied folder"]?.();
  expect(await both()).toBe(NOTED);
});
