import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { bothHaveAll, clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const THEIRS = "Of b.\n";
const WITH_THEIRS = MORE.replace("# Guide\n", `# Guide\n\n${THEIRS}`);

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
  for (const each of [a, b]) await each.follow({ write: true });
  await lab.commit(a, MORE);
  await git("push", "-q");
  await both();
});

async function git(...args: string[]): Promise<void> {
  await lab.run(a, ...args);
}

const both = () => bothHaveAll({ a, b });

/** How somebody has git track the file no longer. */
const UNTRACKED: Readonly<Record<string, () => Promise<void>>> = {
  "is out of the index": () => git("rm", "-q", "--cached", FILE),
  "is out of a commit": async () => {
    await git("rm", "-q", "--cached", FILE);
    await git("commit", "-qm", "untrack");
  },
  "is out of a commit that is pushed, and ignored": async () => {
    await git("rm", "-q", "--cached", FILE);
    await lab.git.write(join(a.dir, ".gitignore"), `${FILE}\n`);
    await git("add", ".gitignore");
    await git("commit", "-qm", "untrack");
    await git("push", "-q");
  },
};

/** How git then writes an older text over it. */
const OVER: Readonly<Record<string, readonly [() => Promise<void>, string]>> = {
  "a checkout of an older commit's file": [
    () => git("checkout", "-q", "origin/main^{/^x}~1", "--", FILE),
    START,
  ],
  "a hard reset to an older commit": [
    () => git("reset", "-q", "--hard", "origin/main^{/^x}~1"),
    START,
  ],
  "a hard reset to the commit before": [
    () => git("reset", "-q", "--hard", "origin/main^{/^x}"),
    MORE,
  ],
};

for (const [how, untrack] of Object.entries(UNTRACKED)) {
  for (const [way, [over, text]] of Object.entries(OVER)) {
    for (const isLooked of [true, false]) {
      const when = isLooked ? "" : ", all in one go";
      test(`what others wrote into a file that ${how} stays after ${way}${when}, and is told`, async () => {
        if (isLooked) await untrack();
        await b.save(WITH_THEIRS);
        await both();
        expect(a.file()).toBe(WITH_THEIRS);
        if (!isLooked) await untrack();
        await over();
        expect(a.file()).toBe(text);
        const { text: now, listed } = await both();
        expect(now).toContain(THEIRS);
        if (!a.file().includes(THEIRS)) expect(listed).toBeGreaterThan(0);
      });
    }
  }

  test(`whoever deletes others' lines of a file that ${how}, and adds it, means it`, async () => {
    await untrack();
    await b.save(WITH_THEIRS);
    await both();
    const mended = WITH_THEIRS.replace(THEIRS, "").replace("One more.", "One more of a.");
    await a.save(mended);
    expect(await both()).toEqual({ text: mended, listed: 0 });
    await git("add", "-f", FILE);
    await git("commit", "-qm", "track");
    expect(await both()).toEqual({ text: mended, listed: 0 });
  });
}
