import { expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, type Pair, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

/** An editor's text of before the pull, with a note; and that beside what was pulled. */
const [STALE, BOTH] = [`Mine.\n\n${START}`, `Mine.\n\n${MORE}`];
const NOTE = `Note.\n\n${START}`;

const lab = clonesOfEach();

async function pull(at: FollowedMachine, ...options: string[]): Promise<void> {
  await lab.run(at, "-c", "pull.rebase=false", "pull", "-q", "--no-edit", ...options);
}

async function write(at: FollowedMachine, text: string, file = FILE): Promise<void> {
  await lab.git.write(join(at.dir, file), text);
}

/** Machine a has pushed this text, and b has it in its document. */
async function aPushes(text: string, files: Readonly<Record<string, string>> = {}): Promise<Pair> {
  const pair = await lab.pair({ [FILE]: START, ...files });
  await lab.commit(pair.a, text);
  await pair.a.settle();
  await lab.run(pair.a, "push", "-q");
  await exchange([pair.a, pair.b]);
  return pair;
}

/** Both have changed another file, too. */
async function bothChangeReadme(): Promise<Pair> {
  const { a, b } = await lab.pair({ [FILE]: START, README: "r\n" });
  await write(a, "ra\n", "README");
  await lab.run(a, "add", "README");
  await lab.commit(a, MORE);
  await a.settle();
  await lab.run(a, "push", "-q");
  await write(b, "rb\n", "README");
  await lab.run(b, "commit", "-qam", "rb");
  await b.settle();
  await exchange([a, b]);
  return { a, b };
}

async function settleReadme(at: FollowedMachine): Promise<void> {
  await write(at, "rab\n", "README");
  await lab.run(at, "add", "-A");
}

async function forgetLogs({ dir }: FollowedMachine): Promise<void> {
  rmSync(join(dir, ".git/logs"), { recursive: true, force: true });
}

/** A commit as programs make it that know git's files alone. */
async function commitQuietly(at: FollowedMachine, text: string): Promise<void> {
  await write(at, text);
  await lab.run(at, "add", FILE);
  const tree = (await lab.run(at, "write-tree")).trim();
  const commit = await lab.run(at, "commit-tree", tree, "-p", "HEAD", "-m", "x");
  await lab.run(at, "update-ref", "HEAD", commit.trim());
}

async function told(at: FollowedMachine) {
  return (await at.conflicts()).map(({ kind, versions }) => [
    kind,
    ...versions.map(({ text }) => text),
  ]);
}

/** The line stands on both machines, and each tells that a save lacks it. */
async function expectTold({ a, b }: Pair, text = BOTH): Promise<void> {
  await b.settle();
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([text, text]);
  const one = [["unseen", "", "One more.\n"]];
  expect([await told(a), await told(b)]).toEqual([one, one]);
}

async function expectNothingTold({ a, b }: Pair, text: string): Promise<void> {
  await b.settle();
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([text, text]);
  expect([await told(a), await told(b)]).toEqual([[], []]);
}

type Act = (at: FollowedMachine) => Promise<unknown>;

/** What is done after a pull and a look: a stale save is committed, and something follows. */
const COMMITTED: readonly (readonly [string, Act])[] = [
  [
    "another branch is checked out and this one again",
    async (b) => {
      await lab.run(b, "branch", "feature");
      await lab.commit(b, STALE);
      await lab.run(b, "checkout", "-q", "feature");
      await lab.run(b, "checkout", "-q", "main");
    },
  ],
  ...["--ff", "--no-ff"].map((how): readonly [string, Act] => [
    `it is merged ${how} from a branch of one's own`,
    async (b) => {
      await lab.run(b, "checkout", "-q", "-b", "feature");
      await lab.commit(b, STALE);
      await lab.run(b, "checkout", "-q", "main");
      await lab.run(b, "merge", "-q", how, "--no-edit", "feature");
    },
  ]),
  [
    "the branch is reset to and fro",
    async (b) => {
      await lab.commit(b, STALE);
      await lab.run(b, "reset", "-q", "--hard", "HEAD~1");
      await lab.run(b, "reset", "-q", "--hard", "ORIG_HEAD");
    },
  ],
  ["a program commits it that writes no log", (b) => commitQuietly(b, STALE)],
  [
    "git keeps no log",
    async (b) => {
      await lab.run(b, "config", "core.logAllRefUpdates", "false");
      await forgetLogs(b);
      await lab.commit(b, STALE);
    },
  ],
];

for (const [what, act] of COMMITTED) {
  test(`a pulled line stays where a stale save is committed and ${what}`, async () => {
    for (const isLookedAt of [true, false]) {
      await lab.end();
      const pair = await aPushes(MORE);
      await pull(pair.b);
      if (isLookedAt) await pair.b.settle();
      await act(pair.b);
      await expectTold(pair);
    }
  });
}

test("a merged line stays where a stale save is committed with a merge that waited for another file", async () => {
  const pair = await bothChangeReadme();
  const { b } = pair;
  await expect(pull(b)).rejects.toThrow();
  await b.settle();
  await b.save(STALE);
  await settleReadme(b);
  await lab.run(b, "commit", "-qam", "merged");
  await expectTold(pair);
});

test("a line stays where a stale save is committed with a rebase that waited for another file", async () => {
  const pair = await bothChangeReadme();
  const { b } = pair;
  await expect(lab.run(b, "pull", "-q", "--rebase")).rejects.toThrow();
  await write(b, STALE);
  await settleReadme(b);
  await lab.run(b, "-c", "core.editor=true", "rebase", "--continue");
  await expectTold(pair);
});

const PUT_ASIDE: readonly (readonly [string, Act])[] = [
  ["pull --rebase --autostash", (b) => lab.run(b, "pull", "-q", "--rebase", "--autostash")],
  [
    "stash, pull and stash pop",
    async (b) => {
      await lab.run(b, "stash", "-q");
      await pull(b);
      await lab.run(b, "stash", "pop", "-q");
    },
  ],
];

for (const [what, bring] of PUT_ASIDE) {
  test(`a pulled line stays where something waits to be committed: ${what}`, async () => {
    for (const isCommitted of [true, false]) {
      await lab.end();
      const pair = await aPushes(MORE);
      const { b } = pair;
      await b.save(NOTE);
      await bring(b);
      const text = `Note two.\n\n${NOTE}`;
      if (isCommitted) await lab.commit(b, text);
      else await write(b, text);
      await expectTold(pair, `Note two.\n\nNote.\n\n${MORE}`);
    }
  });
}

for (const how of ["committed", "looked at before", "saved"]) {
  test(`a line stays though a secret comes beside it that is held, and a stale save is ${how}`, async () => {
    const pair = await aPushes(MORE);
    const { b } = pair;
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "stranger");
    const secret = `${MORE}\nkey: ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5\n`;
    await lab.git.commit(lab.git.path("stranger"), { [FILE]: secret });
    await lab.git.run(lab.git.path("stranger"), "push", "-q");
    await pull(b);
    if (how === "looked at before") await b.settle();
    if (how === "committed") await lab.commit(b, STALE);
    else await write(b, STALE);
    await expectTold(pair);
  });
}

/** Long after the file's time git has done this, by its own log. */
async function withOldTimes(at: FollowedMachine, ...args: string[]): Promise<void> {
  const date = new Date(at.now).toISOString();
  const env = { ...lab.git.env, GIT_COMMITTER_DATE: date };
  execFileSync("git", ["-C", at.dir, ...args], { env });
  const long = at.now / 1000 - 3600;
  utimesSync(join(at.dir, FILE), long, long);
}

test("a pulled line stays where a hook sets the file's time to its commit's", async () => {
  const pair = await aPushes(MORE);
  const { b } = pair;
  await withOldTimes(b, "pull", "-q");
  await b.settle();
  await b.save(STALE);
  await expectTold(pair);
});

test("a line stays that was there for long, where the branch was reset, and is as before", async () => {
  const pair = await aPushes(MORE);
  const { b } = pair;
  await pull(b);
  for (let looks = 0; looks < 3; looks++) await b.pass(60_000);
  await lab.run(b, "reset", "-q", "--hard", "HEAD~1");
  await b.settle();
  await withOldTimes(b, "reset", "-q", "--hard", "origin/main");
  await b.settle();
  await b.save(STALE);
  await b.settle();
  await exchange([pair.a, b]);
  expect(await b.doc()).toBe(BOTH);
  expect((await told(b)).map(([kind]) => kind)).toContain("unseen");
});

test("a line that another machine's commit takes away goes untold", async () => {
  const pair = await aPushes(MORE);
  const { a, b } = pair;
  await pull(b);
  await b.settle();
  await lab.commit(a, START);
  await lab.run(a, "push", "-q");
  await pull(b);
  await expectNothingTold(pair, START);
});

test("what a revert takes away goes untold", async () => {
  const pair = await aPushes(MORE);
  const { b } = pair;
  await pull(b);
  await b.settle();
  await lab.run(b, "revert", "--no-edit", "HEAD");
  await expectNothingTold(pair, START);
});

test("a line that somebody commits in a further working tree, merges and mends is in no doubt", async () => {
  const pair = await lab.pair({ [FILE]: START });
  const { b } = pair;
  const dir = lab.git.path("further");
  await lab.run(b, "worktree", "add", "-q", "-b", "feature", dir);
  await lab.git.commit(dir, { [FILE]: MORE });
  await lab.run(b, "merge", "-q", "feature");
  await b.settle();
  await b.save(`${START}\nOne more, mended.\n`);
  await expectNothingTold(pair, `${START}\nOne more, mended.\n`);
});
