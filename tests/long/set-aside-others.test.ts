import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { bothHaveAll, clonesOfEach, FILE } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- one\n- two\n\n## Test\n\n- make test\n\n## Ship\n\n- ship\n";
const ADDED = "- lint first\n";
const GONE = "- make test\n";

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
});

async function git(...args: string[]): Promise<void> {
  await lab.run(a, ...args);
}

const both = () => bothHaveAll({ a, b });

/** A saves a text, git takes it out of the file, and both have heard of that. */
async function setAside(text: string, act = () => git("stash", "-q")): Promise<void> {
  await a.save(text);
  await both();
  await act();
  expect((await both()).text).toBe(text);
  expect(a.file()).toBe(START);
}

/** What the one open conflict says: its kind, and of each version whose it is and the lines. */
async function told() {
  const ids = await b.listed();
  const open = (await b.conflicts()).filter(({ id }) => ids.includes(id));
  return open.map(({ kind, versions }) => [
    kind,
    ...versions.map(({ machine, text }) => `${machine ?? ""}:${text}`),
  ]);
}

/** How git takes a save out of the file, keeps it, and brings it back. */
const WAYS: Readonly<Record<string, readonly [() => Promise<void>, () => Promise<void>]>> = {
  "a stash that is popped": [() => git("stash", "-q"), () => git("stash", "pop", "-q")],
  "a stash that is applied": [() => git("stash", "-q"), () => git("stash", "apply", "-q")],
  "a commit on a branch that is merged": [
    async () => {
      await git("checkout", "-qb", "feature");
      await git("commit", "-qam", "x");
      await git("checkout", "-q", "main");
    },
    () => git("merge", "-q", "feature"),
  ],
};

async function commitAndReset(): Promise<void> {
  await git("commit", "-qam", "x");
  await a.settle();
  await git("reset", "-q", "--hard", "HEAD~1");
}

const MORE = START.replace("- two\n", `- two\n${ADDED}`);
const LESS = START.replace(GONE, "");

for (const [way, [take, bringBack]] of Object.entries(WAYS)) {
  test(`a line that others deleted while git kept it in ${way} is back, is told, and can be chosen away`, async () => {
    await setAside(MORE, take);
    await b.setDoc(START);
    expect(await both()).toEqual({ text: START, listed: 0 });
    await bringBack();
    expect(await both()).toEqual({ text: MORE, listed: 1 });
    expect(await told()).toEqual([["renewed", "b:", `a:${ADDED}`]]);
    await b.drain(await b.choiceOf(""));
    expect(await both()).toEqual({ text: START, listed: 0 });
  });

  test(`a line that others wrote again while git kept its deletion in ${way} stays, is told, and can be chosen away`, async () => {
    await setAside(LESS, take);
    await b.setDoc(START);
    await both();
    await bringBack();
    expect(await both()).toEqual({ text: START, listed: 1 });
    expect(await told()).toEqual([["renewed", "a:", `b:${GONE}`]]);
    await b.drain(await b.choiceOf(""));
    expect(await both()).toEqual({ text: LESS, listed: 0 });
  });
}

test("a line of a commit that is reset stays deleted when git takes that commit back, of which others know", async () => {
  await setAside(MORE, commitAndReset);
  await b.setDoc(START);
  await both();
  await git("reset", "-q", "--hard", "HEAD@{1}");
  expect(await both()).toEqual({ text: START, listed: 0 });
});

test("a line that others wrote again stays when git takes back the commit that deletes it, and is told", async () => {
  await setAside(LESS, commitAndReset);
  await b.setDoc(START);
  await both();
  await git("reset", "-q", "--hard", "HEAD@{1}");
  expect(await both()).toEqual({ text: START, listed: 1 });
});

test("what git keeps on one machine is not settled by what is saved on another of its name", async () => {
  await lab.end();
  ({ a, b } = await lab.pair({ [FILE]: START }, "macbook"));
  await setAside(MORE);
  expect((await both()).listed).toBe(1);
  await b.save(MORE);
  expect((await both()).listed).toBe(1);
  await git("stash", "pop", "-q");
  expect(await both()).toEqual({ text: MORE, listed: 0 });
});

test("a stashed line that others chose away is told when git brings it back, though its conflict is over", async () => {
  await setAside(MORE);
  await b.drain(await b.choiceOf(""));
  expect(await both()).toEqual({ text: START, listed: 0 });
  await git("stash", "pop", "-q");
  expect(await both()).toEqual({ text: MORE, listed: 1 });
});

test("a stashed line for which others chose the one of before can be exchanged with that again", async () => {
  const mended = START.replace("- two\n", "- two, mended\n");
  await setAside(mended);
  await b.drain(await b.choiceOf("- two\n"));
  expect(await both()).toEqual({ text: START, listed: 0 });
  await git("stash", "pop", "-q");
  expect(await both()).toEqual({ text: mended, listed: 1 });
  await b.drain(await b.choiceOf("- two\n"));
  expect(await both()).toEqual({ text: START, listed: 0 });
});

test("a stash that others have left alone is back without a word, and so is what is typed later", async () => {
  await setAside(LESS.replace("- two\n", `- two\n${ADDED}`));
  await git("stash", "pop", "-q");
  expect((await both()).listed).toBe(0);
  await a.save(LESS);
  await both();
  await a.save(MORE);
  expect(await both()).toEqual({ text: MORE, listed: 0 });
});

const CHANGED = LESS.replace("- two\n", `- two\n${ADDED}`);

for (const [what, text, listed] of [
  ["a deletion", LESS, 1],
  ["a save with a deletion", CHANGED, 2],
] as const) {
  test(`${what} that git brings back from a stash and takes out once more stays, and is told`, async () => {
    await setAside(text);
    await git("stash", "apply", "-q");
    expect(await both()).toEqual({ text, listed: 0 });
    await git("reset", "-q", "--hard");
    expect(await both()).toEqual({ text, listed });
    await git("stash", "pop", "-q");
    expect(await both()).toEqual({ text, listed: 0 });
  });
}

test("a save that git takes out once more stays where the file is edited at once", async () => {
  await setAside(CHANGED);
  await git("stash", "apply", "-q");
  await both();
  await git("reset", "-q", "--hard");
  await a.save(`${START}- more\n`);
  expect(await both()).toEqual({ text: `${CHANGED}- more\n`, listed: 2 });
});

test("whoever types a deleted line again beside the stash that was applied means it", async () => {
  await setAside(CHANGED);
  await git("stash", "apply", "-q");
  await both();
  await a.save(MORE);
  expect(await both()).toEqual({ text: MORE, listed: 0 });
});

test("a section that others wrote again stays with its blank lines, and they go with it", async () => {
  const section = "## Test\n\n- make test\n\n";
  const cut = START.replace(section, "");
  await b.follow({ write: true });
  await setAside(cut);
  await b.save(START.replace("# Guide\n", "# Guide\n\nOf b.\n"));
  await both();
  await git("stash", "pop", "-q");
  const wrote = (text: string) => text.replace("# Guide\n", "# Guide\n\nOf b.\n");
  expect(await both()).toEqual({ text: wrote(START), listed: 1 });
  expect(await told()).toEqual([["renewed", "a:", `b:${section}`]]);
  await b.drain(await b.choiceOf(""));
  expect(await both()).toEqual({ text: wrote(cut), listed: 0 });
});
