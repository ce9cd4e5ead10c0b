import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { bothHaveAll, clonesOfEach, FILE } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const LINE = "- run tests\n";
const ONE = `## One\n\nintro one\n${LINE}end one\n`;
const START = `# Guide\n\n${ONE}\n## Two\n\nintro two\n- second\nend two\n`;
/** The line stands in the other section as well, where nobody has committed it. */
const TWICE = START.replace("- second\n", `- second\n${LINE}`);
const MOVED = TWICE.replace(ONE, ONE.replace(LINE, ""));

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
  for (const each of [a, b]) await each.follow({ write: true });
});

const both = () => bothHaveAll({ a, b });

async function saved(by: FollowedMachine, text: string): Promise<void> {
  await by.save(text);
  expect((await both()).text).toBe(text);
  expect([a.file(), b.file()]).toEqual([text, text]);
}

async function git(...args: string[]): Promise<void> {
  await lab.run(a, ...args);
}

const DISCARD = ["checkout", "-q", "--", FILE];

for (const [way, args] of [
  ["git checkout", DISCARD],
  ["git stash", ["stash", "-q"]],
] as const) {
  test(`what others wrote stays after ${way} though another section has an equal committed line`, async () => {
    await saved(b, TWICE);
    await git(...args);
    expect(await both()).toEqual({ text: TWICE, listed: 1 });
    expect([a.file(), b.file()]).toEqual([START, TWICE]);
    await b.drain(await b.choiceOf(""));
    expect(await both()).toEqual({ text: START, listed: 0 });
  });

  test(`a line that others moved stays where they moved it after ${way}, and is told`, async () => {
    await saved(b, MOVED);
    await git(...args);
    const { text, listed } = await both();
    expect([text, listed > 0]).toEqual([MOVED, true]);
    expect([a.file(), b.file()]).toEqual([START, MOVED]);
  });
}

for (const [what, text] of [
  ["a line that equals a committed one", TWICE],
  ["a line that was moved", MOVED],
] as const) {
  test(`${what}, saved here, stays while git keeps it in a stash, and is back without a word`, async () => {
    await saved(a, text);
    await git("stash", "-q");
    const kept = await both();
    expect([kept.text, kept.listed > 0, b.file()]).toEqual([text, true, text]);
    await git("stash", "pop", "-q");
    expect(await both()).toEqual({ text, listed: 0 });
    expect(a.file()).toBe(text);
  });

  test(`${what}, saved here, is undone everywhere by git checkout`, async () => {
    await saved(a, text);
    await git(...DISCARD);
    expect(await both()).toEqual({ text: START, listed: 0 });
  });

  test(`whoever undoes ${what} of others, so that the file is as git has it, is asked`, async () => {
    await saved(b, text);
    await a.save(START);
    const kept = await both();
    expect([kept.text, kept.listed > 0]).toEqual([text, true]);
    expect([a.file(), b.file()]).toEqual([START, text]);
  });
}

test("a line that is moved and moved back is in the text once, beside a stash that has it", async () => {
  await saved(a, START.replace("end two", "end two, later"));
  await git("stash", "-q");
  await git("stash", "apply", "-q");
  await both();
  const later = (text: string) => text.replace("end two", "end two, later");
  await saved(a, later(MOVED));
  await saved(a, later(START));
  expect(await both()).toEqual({ text: later(START), listed: 0 });
});

test("what others wrote beside an equal line stays where git checkout -p takes it out", async () => {
  const text = TWICE.replace("intro one\n", "intro one\n- more\n");
  await saved(b, text);
  await lab.git.start(a.dir, `printf 'n\\ny\\n' | git checkout -p -- ${FILE}`).done;
  expect(a.file()).toBe(text.replace("- second\n- run tests\n", "- second\n"));
  expect(await both()).toEqual({ text, listed: 1 });
});
