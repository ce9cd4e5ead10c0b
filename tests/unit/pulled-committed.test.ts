import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, type Pair, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const MINE = `Mine.\n\n${START}`;
const BOTH = `Mine.\n\n${MORE}`;
/** What the log of a commit that is made a minute later says. */
const A_MINUTE_LATER = "2024-01-01T00:01:00Z";
const LINE = "One more.\n";

const lab = clonesOfEach();

/** A has pushed a line that B's file does not have yet. */
async function pushed(): Promise<Pair> {
  const pair = await lab.pair({ [FILE]: START });
  const { a, b } = pair;
  await lab.commit(a, MORE);
  await a.settle();
  await lab.run(a, "push", "-q");
  await exchange([a, b]);
  return pair;
}

/** A stranger's clone, which no daemon follows, pushes this text. */
async function strangerPushes(text: string): Promise<void> {
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "stranger");
  await lab.git.commit(lab.git.path("stranger"), { [FILE]: text });
  await lab.git.run(lab.git.path("stranger"), "push", "-q");
}

async function pull(at: FollowedMachine, ...options: string[]): Promise<void> {
  await lab.run(at, "-c", "pull.rebase=false", "pull", "-q", "--no-edit", ...options);
}

async function told(at: FollowedMachine) {
  return (await at.conflicts()).map(({ kind, versions }) => [
    kind,
    ...versions.map(({ text }) => text),
  ]);
}

async function meet({ a, b }: Pair): Promise<void> {
  await b.settle();
  await exchange([a, b]);
}

/** The line stands on both machines, and each tells what B's save lacked. */
async function expectTold({ a, b }: Pair, text = BOTH): Promise<void> {
  expect([await a.doc(), await b.doc()]).toEqual([text, text]);
  const one = [["unseen", "", LINE]];
  expect([await told(a), await told(b)]).toEqual([one, one]);
}

async function expectDone({ a, b }: Pair, text: string): Promise<void> {
  expect([await a.doc(), await b.doc()]).toEqual([text, text]);
  expect([await told(a), await told(b)]).toEqual([[], []]);
}

test("a pulled line stays where an editor's text of before is committed before a look", async () => {
  const pair = await pushed();
  const { a, b } = pair;
  await pull(b);
  await lab.commit(b, MINE);
  await meet(pair);
  await expectTold(pair);
  expect((await b.history()).map(({ value }) => value)).toContain(MINE);
  await lab.run(b, "push", "-q");
  await pull(a);
  await a.settle();
  await meet(pair);
  await expectTold(pair);
  await b.drain(await b.choiceOf(""));
  await exchange([a, b]);
  await expectDone(pair, MINE);
});

test("a stranger's line stays where an editor's text of before is committed before a look", async () => {
  const pair = await lab.pair({ [FILE]: START });
  await strangerPushes(MORE);
  await pull(pair.b);
  await lab.commit(pair.b, MINE);
  await meet(pair);
  await expectTold(pair);
});

test("a pulled line stays where no daemon ran until the text of before was committed", async () => {
  const { a, b } = await pushed();
  await b.stop();
  await pull(b);
  await lab.commit(b, MINE);
  const again = await lab.restarted(b);
  await meet({ a, b: again });
  await expectTold({ a, b: again });
});

test("a pulled line stays where just the text of before is saved, committed or not", async () => {
  for (const isCommitted of [true, false]) {
    await lab.end();
    const pair = await pushed();
    await pull(pair.b);
    if (isCommitted) await lab.commit(pair.b, START);
    else await lab.git.write(join(pair.b.dir, FILE), START);
    await meet(pair);
    await expectTold(pair, MORE);
  }
});

test("a pulled line stays where its commit is amended with the text of before", async () => {
  const pair = await pushed();
  await pull(pair.b);
  await lab.commit(pair.b, MINE, "--amend");
  await meet(pair);
  await expectTold(pair);
});

test("a pulled line stays where a pull follows the commit of the text of before", async () => {
  const pair = await pushed();
  const { b } = pair;
  await pull(b);
  await lab.commit(b, MINE);
  await strangerPushes(`${MORE}\nThe end.\n`);
  await pull(b, "-X", "ours");
  await meet(pair);
  const text = await b.doc();
  expect(text).toContain("One more.");
  expect(text).toStartWith("Mine.");
  expect((await told(pair.a)).flat()).toContain("unseen");
});

test("a pulled line stays where more is saved after the text of before was committed", async () => {
  const pair = await pushed();
  const { b } = pair;
  await pull(b);
  await lab.commit(b, MINE);
  await lab.commit(b, `First.\n\n${MINE}`);
  await b.save(`Zero.\n\nFirst.\n\n${MINE}`);
  await exchange([pair.a, b]);
  await expectTold(pair, `Zero.\n\nFirst.\n\n${BOTH}`);
});

test("whoever edits and commits what a pull brought is in no doubt", async () => {
  const pair = await pushed();
  const { b } = pair;
  await pull(b);
  await lab.commit(b, BOTH);
  await lab.commit(b, BOTH.replace("Build with make.\n\n", ""));
  await meet(pair);
  await expectDone(pair, BOTH.replace("Build with make.\n\n", ""));
});

test("whoever commits without a pulled line a minute after the pull is in no doubt", async () => {
  const pair = await pushed();
  await pull(pair.b);
  await lab.git.commit(pair.b.dir, { [FILE]: MINE }, A_MINUTE_LATER);
  await meet(pair);
  await expectDone(pair, MINE);
});

test("whoever commits what a pull brought, and without it a minute after the pull, is in no doubt", async () => {
  const pair = await pushed();
  await pull(pair.b);
  await lab.commit(pair.b, BOTH);
  await lab.git.commit(pair.b.dir, { [FILE]: MINE }, A_MINUTE_LATER);
  await meet(pair);
  await expectDone(pair, MINE);
});

test("whoever commits and commits again is in no doubt", async () => {
  const pair = await lab.pair({ [FILE]: START });
  await lab.commit(pair.b, BOTH);
  await lab.commit(pair.b, MINE);
  await meet(pair);
  await expectDone(pair, MINE);
});

test("whoever takes a line out of an own commit by a rebase is in no doubt", async () => {
  const pair = await lab.pair({ [FILE]: START });
  const { b } = pair;
  await lab.commit(b, MORE);
  await b.settle();
  await lab.commit(b, BOTH);
  await lab.run(b, "-c", "sequence.editor=sed -i 1s/pick/edit/", "rebase", "-q", "-i", "HEAD~2");
  await lab.commit(b, MORE.replace("Build with make.\n\n", ""), "--amend");
  await lab.run(b, "rebase", "--continue");
  await meet(pair);
  await expectDone(pair, BOTH.replace("Build with make.\n\n", ""));
});

test("a branch's text is not the project's, though it was committed right after the switch", async () => {
  const pair = await lab.pair({ [FILE]: START });
  const { b } = pair;
  await lab.run(b, "checkout", "-q", "-b", "topic");
  await lab.commit(b, MORE);
  await lab.run(b, "checkout", "-q", "main");
  await lab.commit(b, MINE);
  await lab.run(b, "checkout", "-q", "topic");
  await lab.commit(b, `${MORE}\nOf the topic.\n`);
  await lab.run(b, "checkout", "-q", "main");
  await meet(pair);
  await expectDone(pair, MINE);
});
