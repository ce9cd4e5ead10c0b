import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { bothHaveAll, clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const THEIRS = "Of b.\n";
const WITH_THEIRS = MORE.replace("# Guide\n", `# Guide\n\n${THEIRS}`);

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

/** A reads a commit, then gets a line of B that nobody has committed. */
beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
  for (const each of [a, b]) await each.follow({ write: true });
  await lab.commit(a, MORE);
  await both();
  await b.save(WITH_THEIRS);
  await both();
  expect(a.file()).toBe(WITH_THEIRS);
});

async function git(...args: string[]): Promise<void> {
  await lab.run(a, ...args);
}

const both = () => bothHaveAll({ a, b });

/** git deletes the commit that was read last, before anybody looks. */
async function deleteCommit(): Promise<void> {
  const commit = (await lab.run(a, "rev-parse", "HEAD@{1}")).trim();
  await git("reflog", "expire", "--expire=now", "--all");
  await git("gc", "-q", "--prune=now");
  await lab.git.runToFailure(a.dir, "cat-file", "-e", commit);
}

/** How the commit that was read last is replaced by another. */
const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  "an amendment": async () => {
    await git("commit", "-q", "--amend", "-m", "amended");
  },
  "an amendment with all that the file has": async () => {
    await git("commit", "-qa", "--amend", "-m", "amended");
  },
  "an amendment after a discard": async () => {
    await git("checkout", "-q", "--", FILE);
    await git("commit", "-q", "--amend", "-m", "amended");
  },
  "a hard reset": () => git("reset", "-q", "--hard", "HEAD~1"),
};

for (const [way, act] of Object.entries(WAYS)) {
  test(`a file whose commit git has deleted after ${way} is followed on, and nothing goes untold`, async () => {
    await act();
    await deleteCommit();
    await both();
    expect(a.status.state).not.toBe("failing");
    for (const each of [a, b]) expect(await each.doc()).toBe(WITH_THEIRS);
    const ids = await a.listed();
    const told = (await a.conflicts()).filter(({ id }) => ids.includes(id));
    const said = told.flatMap(({ versions }) => versions.map(({ text }) => text)).join("");
    for (const line of [THEIRS, "One more.\n"]) {
      if (!a.file().includes(line)) expect(said).toContain(line);
    }
    await a.save(`${a.file()}\nLater.\n`);
    await both();
    expect(await b.doc()).toContain("Later.\n");
  });
}
