import { expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, type Pair, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const MINUTE_MS = 60_000;
/** What an editor saves that shows another branch's text, and that beside what it lacks. */
const [STALE, BOTH] = [`Mine.\n\n${START}`, `Mine.\n\n${MORE}`];

const lab = clonesOfEach();

/** git's logs have the time of the machine, which is driven here. */
function git(at: FollowedMachine, ...args: string[]): void {
  const date = new Date(at.now).toISOString();
  const env = { ...lab.git.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date };
  execFileSync("git", ["-C", at.dir, ...args], { env });
}

/** A line of A's has been in B's file for long; B's branch `feature` lacks it. */
async function aWrote(): Promise<Pair> {
  const pair = await lab.pair({ [FILE]: START });
  const { a, b } = pair;
  git(b, "branch", "feature");
  await lab.commit(a, MORE);
  await a.settle();
  await lab.run(a, "push", "-q");
  git(b, "pull", "-q");
  await b.settle();
  await exchange([a, b]);
  await wait(b);
  return pair;
}

/** Looks find all that came. */
async function wait(at: FollowedMachine): Promise<void> {
  for (let looks = 0; looks < 3; looks++) await at.pass(MINUTE_MS);
}

async function expectTold({ a, b }: Pair): Promise<void> {
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([BOTH, BOTH]);
  expect((await a.conflicts()).map(({ kind }) => kind)).toEqual(["unseen"]);
}

const AWAY = [
  { how: "a look at each step", looks: true },
  { how: "no look in between", looks: false },
] as const;

for (const { how, looks } of AWAY) {
  const look = async (at: FollowedMachine) => {
    if (looks) await at.settle();
  };

  test(`a line stays where an editor saves another branch's text after the switch back, with ${how}`, async () => {
    const pair = await aWrote();
    const { b } = pair;
    git(b, "checkout", "-q", "feature");
    await look(b);
    git(b, "checkout", "-q", "main");
    await look(b);
    await b.save(STALE);
    await expectTold(pair);
  });
  test(`what a person has written and committed here is in no doubt after a switch, with ${how}`, async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    git(b, "branch", "feature");
    await lab.git.write(`${b.dir}/${FILE}`, MORE);
    git(b, "commit", "-qam", "x");
    await b.settle();
    await wait(b);
    git(b, "checkout", "-q", "feature");
    await look(b);
    git(b, "checkout", "-q", "main");
    await look(b);
    await b.save(STALE);
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([STALE, STALE]);
    expect(await a.conflicts()).toEqual([]);
  });

  test(`a stranger's line is in doubt after a switch, with ${how}`, async () => {
    const pair = await lab.pair({ [FILE]: START });
    const { a, b } = pair;
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "stranger");
    await lab.git.commit(lab.git.path("stranger"), { [FILE]: MORE });
    await lab.git.run(lab.git.path("stranger"), "push", "-q");
    git(b, "branch", "feature");
    git(b, "pull", "-q");
    await b.settle();
    await exchange([a, b]);
    await wait(b);
    git(b, "checkout", "-q", "feature");
    await look(b);
    git(b, "checkout", "-q", "main");
    await look(b);
    await b.save(STALE);
    await expectTold(pair);
  });

  test(`a line of another machine's that was not committed is in doubt after a reset to and fro, with ${how}`, async () => {
    const pair = await lab.pair({ [FILE]: START });
    const { a, b } = pair;
    await b.follow({ write: true });
    await a.save(MORE);
    await exchange([a, b]);
    expect(b.file()).toBe(MORE);
    git(b, "commit", "-qam", "x");
    await b.settle();
    await wait(b);
    git(b, "reset", "-q", "--hard", "HEAD~1");
    await look(b);
    git(b, "reset", "-q", "--hard", "ORIG_HEAD");
    await look(b);
    await b.save(STALE);
    await expectTold(pair);
  });

  test(`a stale text that is committed right after the switch takes nothing away, with ${how}`, async () => {
    const pair = await aWrote();
    const { b } = pair;
    git(b, "checkout", "-q", "feature");
    await look(b);
    git(b, "checkout", "-q", "main");
    await look(b);
    await lab.git.write(`${b.dir}/${FILE}`, STALE);
    git(b, "commit", "-qam", "x");
    await b.settle();
    await expectTold(pair);
  });

  test(`a pull after the switch changes nothing of the doubt, with ${how}`, async () => {
    const pair = await aWrote();
    const { a, b } = pair;
    git(b, "checkout", "-q", "feature");
    await look(b);
    git(b, "checkout", "-q", "main");
    await look(b);
    await lab.git.write(`${a.dir}/README`, "r\n");
    await lab.run(a, "add", "README");
    await lab.run(a, "commit", "-qm", "r");
    await lab.run(a, "push", "-q");
    git(b, "pull", "-q");
    await look(b);
    await b.save(STALE);
    await expectTold(pair);
  });
}

test("a minute after the switch a save takes lines away", async () => {
  const { a, b } = await aWrote();
  git(b, "checkout", "-q", "feature");
  await b.settle();
  git(b, "checkout", "-q", "main");
  await b.settle();
  await wait(b);
  b.put(STALE);
  await b.settle();
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([STALE, STALE]);
  expect(await a.conflicts()).toEqual([]);
});

test("a line is in doubt after a switch that the daemon has slept through", async () => {
  const pair = await aWrote();
  await pair.b.stop();
  git(pair.b, "checkout", "-q", "feature");
  git(pair.b, "checkout", "-q", "main");
  const b = await lab.restarted(pair.b);
  await b.settle();
  await b.save(STALE);
  await expectTold({ ...pair, b });
});

test("whoever stays on the branch sees nothing of it", async () => {
  const { a, b } = await aWrote();
  git(b, "checkout", "-q", "feature");
  git(b, "commit", "-q", "--allow-empty", "-m", "x");
  git(b, "checkout", "-q", "main");
  await b.settle();
  await b.save(BOTH);
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([BOTH, BOTH]);
  expect(await a.conflicts()).toEqual([]);
});
