import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const MINUTE_MS = 60_000;
const MINE = `Mine.\n\n${START}`;
const BOTH = `Mine.\n\n${MORE}`;

const lab = clonesOfEach();

/** A stranger's clone, which no daemon follows, pushes this text. */
async function strangerPushes(text: string): Promise<void> {
  const dir = lab.git.path("stranger");
  if (!existsSync(dir)) await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "stranger");
  await lab.git.commit(dir, { [FILE]: text });
  await lab.git.run(dir, "push", "-q");
}

async function pull(at: FollowedMachine, ...options: string[]): Promise<void> {
  await lab.run(at, "-c", "pull.rebase=false", "pull", "-q", "--no-edit", ...options);
}

async function kinds(at: FollowedMachine): Promise<string[]> {
  return (await at.conflicts()).map(({ kind }) => kind);
}

/** Who has pushed what is pulled: a machine that memsync runs on, or a stranger. */
const WHO = ["another machine", "a stranger"] as const;

async function pushed(by: (typeof WHO)[number], text: string, start = START) {
  const pair = await lab.pair({ [FILE]: start });
  if (by === "a stranger") await strangerPushes(text);
  else {
    await lab.commit(pair.a, text);
    await pair.a.settle();
    await lab.run(pair.a, "push", "-q");
    await exchange([pair.a, pair.b]);
  }
  return pair;
}

for (const by of WHO) {
  test(`a line pulled from ${by} stays, and is told, where an editor saves its text of before within the minute`, async () => {
    const { a, b } = await pushed(by, MORE);
    await pull(b);
    await b.settle();
    await b.save(MINE);
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([BOTH, BOTH]);
    expect(await kinds(a)).toEqual(["unseen"]);
    const [told] = await a.conflicts();
    const versions = told?.versions.map(({ text, machine }) => [text, machine]);
    const whose = by === "a stranger" ? undefined : "a";
    expect(versions).toEqual([
      ["", "b"],
      ["One more.\n", whose],
    ]);
  });

  test(`a line pulled from ${by} stays where an editor saves over it before it is looked at`, async () => {
    const { a, b } = await pushed(by, MORE);
    await pull(b);
    await b.save(MINE);
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([BOTH, BOTH]);
    expect(await kinds(a)).toEqual(["unseen"]);
    expect((await b.history()).map(({ value }) => value)).toContain(MINE);
  });

  test(`a line pulled from ${by} is written again where it may be`, async () => {
    const { a, b } = await pushed(by, MORE);
    await b.follow({ write: true });
    if (by === "another machine") await lab.run(b, "checkout", "-q", "--", FILE);
    await pull(b);
    await b.settle();
    await b.save(MINE);
    await exchange([a, b]);
    expect(b.file()).toBe(BOTH);
  });

  test(`a line pulled from ${by} goes by a save that is made after the minute`, async () => {
    const { a, b } = await pushed(by, MORE);
    await pull(b);
    await b.settle();
    await b.pass(MINUTE_MS);
    await b.pass(MINUTE_MS);
    await b.save(MINE);
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([MINE, MINE]);
    expect(await kinds(a)).toEqual([]);
  });

  test(`a line that a pull from ${by} takes away comes back with a conflict where an editor has it`, async () => {
    const { a, b } = await pushed(by, START, MORE);
    await pull(b);
    await b.settle();
    expect(await b.doc()).toBe(START);
    await b.save(BOTH);
    await exchange([a, b]);
    expect(await a.doc()).toBe(BOTH);
    expect(await kinds(a)).toEqual(["unseen"]);
  });

  test(`a line pulled from ${by} goes by the next pull, which brings it no more`, async () => {
    const { a, b } = await pushed(by, MORE);
    await pull(b);
    await b.settle();
    await strangerRemoves();
    await pull(b);
    await b.settle();
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
    expect(await kinds(a)).toEqual([]);
  });

  test(`a line pulled from ${by} stays beside what was not committed, which git puts aside and back`, async () => {
    const { a, b } = await pushed(by, MORE);
    await b.save(MINE);
    await exchange([a, b]);
    await pull(b, "--autostash");
    await b.settle();
    expect(b.file()).toBe(BOTH);
    await b.save(`${MINE}\nThe end.\n`);
    await exchange([a, b]);
    expect(await a.doc()).toContain("One more.");
    expect(await a.doc()).toContain("The end.");
    expect(await kinds(a)).toEqual(["unseen"]);
  });
}

async function strangerRemoves(): Promise<void> {
  const dir = lab.git.path("stranger");
  if (existsSync(dir)) await lab.git.run(dir, "pull", "-q");
  await strangerPushes(START);
}

test("what somebody commits and deletes again on one machine is in no doubt", async () => {
  const { a, b } = await lab.pair({ [FILE]: START });
  await lab.commit(a, MORE);
  await a.settle();
  await a.save(MINE);
  await exchange([a, b]);
  expect(await b.doc()).toBe(MINE);
  expect(await kinds(a)).toEqual([]);
});

test("what was pulled while no daemon ran, long ago, is in no doubt", async () => {
  const { a, b } = await pushed("another machine", MORE);
  await b.stop();
  await pull(b);
  const pulledAt = (b.now - 2 * MINUTE_MS) / 1000;
  utimesSync(join(b.dir, FILE), pulledAt, pulledAt);
  const again = await lab.restarted(b);
  await again.settle();
  await again.save(MINE);
  await exchange([a, again]);
  expect(await a.doc()).toBe(MINE);
  expect(await kinds(a)).toEqual([]);
});

const README = "README.md";

/** B's editor saves the text that it had before another machine's line came by git. */
async function staleSave({ a, b }: Awaited<ReturnType<typeof pushed>>): Promise<void> {
  await b.settle();
  expect(b.file()).toBe(MORE);
  await b.save(MINE);
  await exchange([a, b]);
}

async function expectTold({ a, b }: Awaited<ReturnType<typeof pushed>>): Promise<void> {
  expect([await a.doc(), await b.doc()]).toEqual([BOTH, BOTH]);
  expect([await kinds(a), await kinds(b)]).toEqual([["unseen"], ["unseen"]]);
}

async function commitReadme(at: FollowedMachine, text: string, ...options: string[]) {
  await lab.git.write(join(at.dir, README), text);
  await lab.run(at, "add", README);
  await lab.run(at, "commit", "-qm", "readme", ...options);
}

test("a pulled line is in doubt though another file was committed after it", async () => {
  const pair = await pushed("another machine", MORE);
  await pull(pair.b);
  await commitReadme(pair.b, "Read me.\n");
  await staleSave(pair);
  await expectTold(pair);
});

test("a pulled line is in doubt though its commit was amended with another file", async () => {
  const pair = await pushed("another machine", MORE);
  await pull(pair.b);
  await commitReadme(pair.b, "Read me.\n", "--amend");
  await staleSave(pair);
  await expectTold(pair);
});

test("a merged line is in doubt where a person has finished the merge in another file", async () => {
  const pair = await lab.pair({ [FILE]: START, [README]: "Read me.\n" });
  const { a, b } = pair;
  await commitReadme(a, "Read me now.\n");
  await lab.commit(a, MORE);
  await a.settle();
  await lab.run(a, "push", "-q");
  await exchange([a, b]);
  await commitReadme(b, "Read me soon.\n");
  await b.settle();
  await expect(pull(b)).rejects.toThrow();
  await commitReadme(b, "Read me now, soon.\n");
  await staleSave(pair);
  await expectTold(pair);
});

test("a pulled line is in doubt where git keeps no log", async () => {
  const pair = await pushed("another machine", MORE);
  await lab.run(pair.b, "config", "core.logAllRefUpdates", "false");
  rmSync(join(pair.b.dir, ".git", "logs"), { recursive: true });
  await pull(pair.b);
  await staleSave(pair);
  await expectTold(pair);
});

for (const by of WHO) {
  test(`a squashed line of ${by} is in doubt, committed or not`, async () => {
    for (const isCommitted of [true, false]) {
      await lab.end();
      const pair = await pushed(by, MORE);
      await lab.run(pair.b, "fetch", "-q");
      await lab.run(pair.b, "merge", "-q", "--squash", "origin/main");
      if (isCommitted) await lab.run(pair.b, "commit", "-qm", "squashed");
      await staleSave(pair);
      await expectTold(pair);
    }
  });
}

test("what somebody takes out and puts back is in no doubt beside what was fetched", async () => {
  const { a, b } = await pushed("a stranger", MORE);
  await b.save(MINE);
  await lab.run(b, "fetch", "-q");
  await b.save(START);
  await b.save(MINE);
  await b.save(START);
  await exchange([a, b]);
  expect([await a.doc(), await kinds(a)]).toEqual([START, []]);
});
