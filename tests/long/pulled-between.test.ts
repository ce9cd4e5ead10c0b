import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, utimesSync } from "node:fs";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, type Pair } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const MINUTE_MS = 60_000;

/** A text in whose three places git merges changes without a person. */
function guide({ top = "", middle = "", end = "" } = {}): string {
  const section = (name: string, more: string) =>
    `## ${name}\n\n${name} one.\n${name} two.\n${name} three.\n${more}\n`;
  const between = (name: string) => section(name, "");
  const [first, last] = [section("Top", top), section("End", end)];
  const inside = `${between("Alpha")}${section("Middle", middle)}${between("Beta")}`;
  return `# Guide\n\n${first}${inside}${last}`;
}

const START = guide();
/** What another machine has pushed; and an editor's text of before, with a note. */
const [THEIRS, STALE] = [guide({ middle: "Theirs.\n" }), guide({ end: "Mine.\n" })];

const lab = clonesOfEach();

/** A stranger's clone, which no daemon follows, commits this text on top of what was pushed. */
async function strangerCommits(text: string, branch = "main"): Promise<void> {
  const dir = lab.git.path("stranger");
  if (!existsSync(dir)) await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "stranger");
  else await lab.git.run(dir, "pull", "-q", "--rebase");
  if (branch !== "main") await lab.git.run(dir, "checkout", "-q", "-b", branch);
  await lab.git.commit(dir, { [FILE]: text });
  await lab.git.run(dir, "push", "-q", "origin", branch);
}

async function pull(at: FollowedMachine, ...options: string[]): Promise<void> {
  await lab.run(at, "-c", "pull.rebase=false", "pull", "-q", "--no-edit", ...options);
}

async function aPushes(text: string, start = START): Promise<Pair> {
  const pair = await lab.pair({ [FILE]: start });
  const { a, b } = pair;
  await lab.commit(a, text);
  await a.settle();
  await lab.run(a, "push", "-q");
  await exchange([a, b]);
  return pair;
}

async function told(at: FollowedMachine) {
  return (await at.conflicts()).map(({ kind, versions }) => [
    kind,
    ...versions.map(({ text }) => text),
  ]);
}

/** The line stands on both machines, and each tells that a save lacks it. */
async function expectTold({ a, b }: Pair): Promise<void> {
  await exchange([a, b]);
  for (const each of [a, b]) {
    expect(await each.doc()).toContain("Theirs.\n");
    expect(await each.doc()).toContain("Mine.\n");
    expect(await told(each)).toEqual([["unseen", "", "Theirs.\n"]]);
  }
}

async function expectNothingTold({ a, b }: Pair, text: string): Promise<void> {
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([text, text]);
  expect([await told(a), await told(b)]).toEqual([[], []]);
}

const MORE_COMES: readonly (readonly [string, (at: FollowedMachine) => Promise<unknown>])[] = [
  ["a pull", (at) => pull(at)],
  ["a pull --rebase", (at) => lab.run(at, "pull", "-q", "--rebase")],
  [
    "a cherry-pick",
    async (at) => {
      await lab.run(at, "fetch", "-q");
      await lab.run(at, "cherry-pick", "origin/main");
    },
  ],
];

for (const [what, bring] of MORE_COMES) {
  test(`a pulled line stays where the text of before is committed, and ${what} follows at once`, async () => {
    const pair = await aPushes(THEIRS);
    await pull(pair.b);
    await pair.b.settle();
    await lab.commit(pair.b, STALE);
    await strangerCommits(guide({ top: "A stranger's.\n", middle: "Theirs.\n" }));
    await bring(pair.b);
    await pair.b.settle();
    expect(await pair.b.doc()).toContain("A stranger's.\n");
    await expectTold(pair);
  });
}

test("a pulled line is in doubt after a merge that somebody gave up", async () => {
  for (const isLookedAt of [true, false]) {
    await lab.end();
    const pair = await aPushes(guide({ top: "A's top.\n", middle: "Theirs.\n" }));
    const { b } = pair;
    await lab.commit(b, guide({ top: "B's top.\n" }));
    await b.settle();
    await expect(pull(b)).rejects.toThrow();
    await b.settle();
    await lab.run(b, "merge", "--abort");
    if (isLookedAt) await b.settle();
    await pull(b, "-X", "ours");
    await b.settle();
    expect(b.file()).toBe(guide({ top: "B's top.\n", middle: "Theirs.\n" }));
    await b.save(guide({ top: "B's top.\n", end: "Mine.\n" }));
    await expectTold(pair);
  }
});

test("what another history brings stays where the text of before is saved before a look", async () => {
  const pair = await lab.pair({ [FILE]: START });
  const { a, b } = pair;
  await lab.commit(a, guide({ top: "Old.\n" }));
  await lab.run(a, "push", "-q");
  await a.settle();
  await exchange([a, b]);
  await pull(b);
  await b.settle();
  await b.pass(MINUTE_MS);
  await b.pass(MINUTE_MS);
  await lab.commit(a, guide({ top: "Old.\n", middle: "Theirs.\n" }), "--amend");
  await lab.run(a, "push", "-q", "--force");
  await a.settle();
  await exchange([a, b]);
  await lab.run(b, "fetch", "-q");
  await lab.run(b, "reset", "-q", "--hard", "origin/main");
  await b.save(guide({ top: "Old.\n", end: "Mine.\n" }));
  await expectTold(pair);
});

for (const how of ["--rebase=false", "--rebase=true"]) {
  test(`what somebody commits before a pull ${how} is in no doubt`, async () => {
    const pair = await aPushes(THEIRS);
    const { b } = pair;
    await lab.commit(b, STALE);
    await lab.run(b, "pull", "-q", "--no-edit", how);
    await b.settle();
    await b.save(guide({ middle: "Theirs.\n", end: "Mine is better.\n" }));
    await expectNothingTold(pair, guide({ middle: "Theirs.\n", end: "Mine is better.\n" }));
  });
}

for (const how of ["--ff", "--no-ff"]) {
  test(`what somebody commits on a branch and merges ${how} is in no doubt`, async () => {
    const pair = await lab.pair({ [FILE]: START });
    const { b } = pair;
    await lab.run(b, "checkout", "-q", "-b", "topic");
    await lab.commit(b, STALE);
    await b.settle();
    await lab.run(b, "checkout", "-q", "main");
    await lab.run(b, "merge", "-q", how, "--no-edit", "topic");
    await b.settle();
    await b.save(guide({ end: "Mine is better.\n" }));
    await expectNothingTold(pair, guide({ end: "Mine is better.\n" }));
  });
}

test("a pulled line is in doubt under a hundred commits of one's own that no look has found", async () => {
  const pair = await lab.pair({ [FILE]: START });
  const { b } = pair;
  await strangerCommits(THEIRS);
  await pull(b);
  const commits = "for n in $(seq 101); do echo $n > CLAUDE.md; git commit -qam $n; done";
  await lab.git.start(b.dir, commits).done;
  await lab.commit(b, THEIRS);
  await b.settle();
  await b.save(STALE);
  await expectTold(pair);
});

test("what others committed on a branch that somebody merges is in doubt", async () => {
  const pair = await lab.pair({ [FILE]: START });
  const { b } = pair;
  await strangerCommits(THEIRS, "topic");
  await lab.run(b, "fetch", "-q");
  await lab.run(b, "checkout", "-q", "topic");
  await lab.run(b, "commit", "-q", "--allow-empty", "-m", "own");
  await b.settle();
  await lab.run(b, "checkout", "-q", "main");
  await lab.run(b, "merge", "-q", "topic");
  await b.settle();
  await b.save(STALE);
  await expectTold(pair);
});

test("what somebody reverts of their own and types again is in no doubt", async () => {
  const pair = await lab.pair({ [FILE]: START });
  const { b } = pair;
  await lab.commit(b, STALE);
  await b.settle();
  await lab.run(b, "revert", "--no-edit", "HEAD");
  await b.settle();
  expect(await b.doc()).toBe(START);
  await b.save(STALE);
  await expectNothingTold(pair, STALE);
});

test("what somebody deletes and types again is in no doubt though a branch that was fetched deletes it", async () => {
  const pair = await lab.pair({ [FILE]: THEIRS });
  const { b } = pair;
  await strangerCommits(START, "topic");
  await lab.run(b, "fetch", "-q");
  await b.save(START);
  await b.save(THEIRS);
  await expectNothingTold(pair, THEIRS);
});

test("a line that somebody types and commits is in no doubt though a branch that was fetched has it", async () => {
  const pair = await lab.pair({ [FILE]: START });
  const { b } = pair;
  await strangerCommits(guide({ middle: "```bash\nmake b\n```\n" }), "topic");
  await lab.run(b, "fetch", "-q");
  await lab.commit(b, guide({ end: "```bash\nmake c\n```\n" }));
  await b.settle();
  await b.save(guide({ end: "```sh\nmake c\n```\n" }));
  await expectNothingTold(pair, guide({ end: "```sh\nmake c\n```\n" }));
});

test("what was pulled long ago while no daemon ran is in no doubt with git's line endings", async () => {
  const { a, b } = await aPushes(THEIRS);
  await lab.run(b, "config", "core.autocrlf", "true");
  await lab.run(b, "rm", "-q", "--cached", FILE);
  await lab.run(b, "reset", "-q", "--hard");
  await b.settle();
  await b.stop();
  await pull(b);
  const pulledAt = (b.now - 2 * MINUTE_MS) / 1000;
  utimesSync(`${b.dir}/${FILE}`, pulledAt, pulledAt);
  const again = await lab.restarted(b);
  await again.settle();
  expect(again.file()).toContain("\r\n");
  await again.save(STALE.replaceAll("\n", "\r\n"));
  await expectNothingTold({ a, b: again }, STALE);
});

test("what a pull brought is in no doubt a minute after it, where a commit followed later", async () => {
  const { a, b } = await aPushes(THEIRS);
  await b.stop();
  await pull(b);
  const both = guide({ middle: "Theirs.\n", end: "Mine.\n" });
  await lab.git.commit(b.dir, { [FILE]: both }, "2024-01-01T00:01:00Z");
  const again = await lab.restarted(b);
  await again.settle();
  await again.save(STALE);
  await expectNothingTold({ a, b: again }, STALE);
});
