import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const SECTION = "## Test\n\nTest with make test.\n\n";
const SHIP = "## Ship\n\nShip with make ship.\n\nAsk first.\n";
const START = `# Guide\n\nBuild with make.\n\n${SECTION}${SHIP}`;
const CUT = START.replace(SECTION, "");
const LONG_MS = 120_000;

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
});

/** A saves a text without committing it, and both have it for long. */
async function saved(text: string, date = "2023-01-01"): Promise<void> {
  await lab.git.write(join(a.dir, FILE), text);
  savedOn(date);
  await a.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(LONG_MS);
}

/** All of git's commits are from the first of January 2024. */
function savedOn(date: string): void {
  utimesSync(join(a.dir, FILE), new Date(date), new Date(date));
}

async function git(...args: string[]): Promise<void> {
  await lab.run(a, ...args);
}

/** What both have after an exchange, and how many conflicts. */
async function both(): Promise<{ text: string; conflicts: number }> {
  await a.settle();
  await exchange([a, b]);
  const [one, other] = [await a.conflicts(), await b.conflicts()];
  expect(await b.doc()).toBe(await a.doc());
  expect(other).toEqual(one);
  return { text: await a.doc(), conflicts: one.length };
}

/** How git puts deleted lines back, keeps the deletion, and brings it back. */
const WAYS: Readonly<Record<string, readonly [() => Promise<void>, () => Promise<void>]>> = {
  "a stash": [() => git("stash", "-q"), () => git("stash", "pop", "-q")],
  "a stash that is applied": [() => git("stash", "-q"), () => git("stash", "apply", "-q")],
  "a commit on another branch": [
    async () => {
      await git("checkout", "-qb", "feature");
      await git("commit", "-qam", "x");
      await git("checkout", "-q", "main");
    },
    () => git("merge", "-q", "feature"),
  ],
  "a commit of another branch that was amended": [
    async () => {
      await git("checkout", "-qb", "feature");
      await git("commit", "-qa", "--amend", "-m", "x");
      await git("checkout", "-q", "main");
    },
    () => git("checkout", "-q", "feature", "--", FILE),
  ],
  "the first of two commits on another branch": [
    async () => {
      await git("checkout", "-qb", "feature");
      await git("commit", "-qam", "x");
      await lab.commit(a, `${CUT}\nMore.\n`);
      await git("checkout", "-q", "main");
    },
    () => git("merge", "-q", "feature~1"),
  ],
};

/** Whether git's clock is after the one that a save is from, or before it. */
const CLOCKS = { "later than": "2023-01-01", "earlier than": "2025-01-01" };

for (const [way, [setAside, bringBack], clock, date] of Object.entries(WAYS).flatMap(
  ([way, acts]) => Object.entries(CLOCKS).map(([clock, date]) => [way, acts, clock, date] as const),
)) {
  test(`lines that somebody deleted stay deleted when git puts them back and keeps the deletion by ${way}, by a clock ${clock} the save`, async () => {
    await saved(CUT, date);
    await setAside();
    expect(await both()).toEqual({ text: CUT, conflicts: 1 });
    expect(a.file()).toBe(START);
    const [conflict] = await b.conflicts();
    expect(conflict?.kind).toBe("set-aside");
    expect(conflict?.versions.map(({ text }) => text)).toEqual(["", SECTION]);
    await a.settle();
    await bringBack();
    expect(await both()).toEqual({ text: CUT, conflicts: 0 });
    expect(a.file()).toBe(CUT);
    await saved(`${CUT}\nMore.\n`);
    expect(await both()).toEqual({ text: `${CUT}\nMore.\n`, conflicts: 0 });
  });
}

test("lines whose deletion a reset undoes stay deleted, and that is told until the file lacks them again", async () => {
  await a.follow({ write: true });
  await saved(CUT);
  await git("commit", "-qam", "x");
  expect(await both()).toEqual({ text: CUT, conflicts: 0 });
  await git("reset", "-q", "--hard", "HEAD~1");
  expect(await both()).toEqual({ text: CUT, conflicts: 1 });
  expect(a.file()).toBe(START);
  const [conflict] = await b.conflicts();
  expect(conflict?.versions.map(({ text }) => text)).toEqual(["", SECTION]);
  await git("reset", "-q", "--hard", "HEAD@{1}");
  expect(await both()).toEqual({ text: CUT, conflicts: 0 });
  expect(a.file()).toBe(CUT);
});

for (const [wanted, text] of [
  ["lines that git put back", START],
  ["their deletion", CUT],
] as const) {
  test(`${wanted} can be chosen, and one command settles it`, async () => {
    await saved(CUT);
    await git("stash", "-q");
    await both();
    await b.drain(await b.choiceOf(text === CUT ? "" : SECTION));
    expect(await both()).toEqual({ text, conflicts: 0 });
    await a.pass(LONG_MS);
    await a.save(`${a.file()}\nMore.\n`);
    expect(await both()).toEqual({ text: `${text}\nMore.\n`, conflicts: 0 });
  });
}

test("nothing is written beneath lines that git put back until that is settled", async () => {
  await a.follow({ write: true });
  await saved(CUT);
  await git("stash", "-q");
  await both();
  await b.save(`Of b.\n\n${b.file()}`);
  await both();
  expect(a.file()).toBe(START);
  expect(a.status.why).toEqual({ code: "leave-aside" });
  await git("stash", "pop", "-q");
  expect(await both()).toEqual({ text: `Of b.\n\n${CUT}`, conflicts: 0 });
  expect(a.file()).toBe(`Of b.\n\n${CUT}`);
});

for (const isTold of [false, true]) {
  const whose = isTold ? "that this machine was told of" : "of which nobody has told";
  test(`a pull between stash and pop of a commit ${whose} brings others' lines, and the deletion stays`, async () => {
    await saved(CUT);
    await lab.commit(b, START.replace("make.", "make all."));
    await b.settle();
    await lab.run(b, "push", "-q");
    if (isTold) await exchange([a, b]);
    await git("stash", "-q");
    await git("pull", "-q");
    const pulled = CUT.replace("make.", "make all.");
    expect(await both()).toEqual({ text: pulled, conflicts: 1 });
    await git("stash", "pop", "-q");
    expect(await both()).toEqual({ text: pulled, conflicts: 0 });
  });
}

test("a section that was moved beside a deletion stands once when both are back from a stash", async () => {
  const moved = `${CUT.replace("Build with make.\n\n", "")}\n${SECTION.trimEnd()}\n`;
  await saved(moved);
  await git("stash", "-q");
  expect((await both()).text).not.toContain("Build");
  await git("stash", "pop", "-q");
  expect(await both()).toEqual({ text: moved, conflicts: 0 });
});

for (const [clock, date] of Object.entries(CLOCKS)) {
  for (const more of [false, true]) {
    const which = more ? "the one below the latest, dropped since" : "applied before";
    test(`deleted lines come back for everybody by hand beside a stash that was ${which}, by a clock ${clock} the save`, async () => {
      await saved(CUT);
      await git("stash", "-q");
      await both();
      await git("stash", "apply", "-q");
      savedOn(date);
      expect(await both()).toEqual({ text: CUT, conflicts: 0 });
      if (more) {
        await a.save(`${CUT}\nMore.\n`);
        await git("stash", "-q");
        await git("stash", "pop", "-q");
        await a.save(CUT);
      }
      await a.save(START);
      expect(await both()).toEqual({ text: START, conflicts: 0 });
    });
  }
}

test("a deletion is set aside also where no daemon ran when git did that", async () => {
  await saved(CUT, "2025-01-01");
  await a.stop();
  await git("stash", "-q");
  a = await lab.machine("a");
  expect(await both()).toEqual({ text: CUT, conflicts: 1 });
  expect(a.file()).toBe(START);
});

/** Lines that come back because somebody wants them, though git is at work. */
const MEANT: Readonly<Record<string, () => Promise<void>>> = {
  "a checkout of the file": async () => {
    await saved(CUT);
    await git("checkout", "-q", "--", FILE);
  },
  "a revert of the commit that deleted them": async () => {
    await saved(CUT);
    await git("commit", "-qam", "cut");
    await both();
    await git("revert", "--no-edit", "HEAD");
  },
  "a commit of the file as it was in an older one": async () => {
    await saved(CUT);
    await git("commit", "-qam", "cut");
    await both();
    await git("checkout", "-q", "HEAD~1", "--", FILE);
    await git("commit", "-qm", "back");
  },
  "an editor's undo beside a stash of something else": async () => {
    await a.save(`${START}\nMore.\n`);
    await git("stash", "-q");
    await git("stash", "branch", "other", "-q").catch(() => undefined);
    await git("checkout", "-qf", "main");
    await a.settle();
    for (const { id } of await a.conflicts()) await a.dismiss(id);
    await a.save(START);
    await saved(CUT);
    await a.save(START);
  },
};

for (const [how, act] of Object.entries(MEANT)) {
  test(`deleted lines come back for everybody by ${how}`, async () => {
    await act();
    const { text } = await both();
    expect(text).toContain(SECTION.trim());
  });
}

test("a branch from before the lines were written keeps no deletion of them", async () => {
  await git("checkout", "-qb", "old");
  await lab.commit(a, START.replace("make.", "make all."));
  await git("checkout", "-q", "main");
  const more = `${START}\nLater.\n`;
  await lab.commit(a, more);
  await both();
  await saved(START);
  await git("checkout", "-q", "--", FILE);
  expect(await both()).toEqual({ text: more, conflicts: 0 });
});
