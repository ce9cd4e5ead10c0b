import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const lab = clonesOfEach();

describe("what a pull brings together", () => {
  /** A stranger's clone: no daemon follows it. */
  async function strangerCommits(text: string): Promise<void> {
    const dir = lab.git.path("stranger");
    if (!existsSync(dir))
      await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "stranger");
    await lab.git.run(dir, "pull", "-q");
    await lab.git.commit(dir, { [FILE]: text });
    await lab.git.run(dir, "push", "-q");
  }

  async function pull(at: FollowedMachine): Promise<void> {
    await lab.run(at, "-c", "pull.rebase=false", "pull", "-q", "--no-edit");
    await at.settle();
  }

  /** A has committed `text`, told and pushed it; B has not pulled it. */
  async function told(text: string) {
    const pair = await lab.pair({ [FILE]: START });
    await lab.commit(pair.a, text);
    await pair.a.settle();
    await lab.run(pair.a, "push", "-q");
    await exchange([pair.a, pair.b]);
    return pair;
  }

  const BLOCK = "\n```bash\nmake deploy\n```\n";

  test("what a pull brings together has a block whole that has lines in common with one that was told", async () => {
    const { a, b } = await told(`${START}${BLOCK}`);
    const text = `${START}${BLOCK}\n\`\`\`bash\nmake lint\n\`\`\`\n`;
    await strangerCommits(text);
    await pull(b);
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([text, text]);
  });

  test("what a pull brings together removes what was told and a later commit took away", async () => {
    const { a, b } = await told(MORE);
    await strangerCommits(START);
    await pull(b);
    await exchange([a, b]);
    await pull(a);
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
  });

  test("what a pull brings together keeps what somebody may have dropped when they merged, and tells it", async () => {
    const { a, b } = await told(MORE);
    await lab.commit(b, `Of b.\n\n${START}`);
    await b.settle();
    await lab.run(b, "fetch", "-q");
    await lab.run(b, "merge", "-q", "--no-commit", "origin/main");
    await lab.git.write(join(b.dir, FILE), `Of b.\n\n${START}`);
    await lab.run(b, "commit", "-qam", "merged");
    await b.settle();
    await lab.run(b, "push", "-q");
    await exchange([a, b]);
    await pull(a);
    await exchange([a, b]);
    // An editor that showed the text of before may have saved it there.
    expect([await a.doc(), await b.doc()]).toEqual([`Of b.\n\n${MORE}`, `Of b.\n\n${MORE}`]);
    const [kept, ...others] = await b.conflicts();
    expect([kept?.kind, others.length]).toEqual(["unseen", 0]);
  });

  test("what a pull brings together does not bring back what its author has removed since, however much came after", async () => {
    const { a, b } = await told(MORE);
    await a.save(START);
    await exchange([a, b]);
    for (let at = 0; at < 10; at++) await strangerCommits(`Line ${at}.\n\n${MORE}`);
    await pull(b);
    await exchange([a, b]);
    expect(await b.doc()).toBe(`Line 9.\n\n${START}`);
  });
});

test("a save that git kept waiting was made when it was made", async () => {
  const { a, b } = await lab.pair({ [FILE]: START });
  await b.follow({ write: true });
  await b.pass(120_000);
  await a.save(MORE);
  await exchange([a, b]);
  expect(b.file()).toBe(MORE);
  await lab.git.write(join(b.dir, ".git", "index.lock"), "");
  await b.pass(5000);
  // Not as a commit has it, which would be git's.
  b.put(`Own.\n\n${START}`);
  await b.pass(120_000);
  await b.settle();
  await rm(join(b.dir, ".git", "index.lock"));
  await b.settle();
  await exchange([a, b]);
  expect(await a.doc()).toBe(`Own.\n\n${MORE}`);
  expect((await a.conflicts()).map(({ kind }) => kind)).toEqual(["unseen"]);
});

test("a line that a checkout took out is back with the commit that has it", async () => {
  const { a, b } = await lab.pair({ [FILE]: START });
  for (const each of [a, b]) await each.follow({ write: true });
  await b.save(MORE);
  await exchange([a, b]);
  expect(a.file()).toBe(MORE);
  await lab.run(a, "commit", "-qam", "x");
  await lab.run(a, "push", "-q");
  await a.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  // git would not pull over the line that B has not committed.
  await lab.run(b, "checkout", "-q", "--", FILE);
  await b.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  await lab.run(b, "pull", "-q");
  await b.settle();
  await exchange([a, b]);
  expect([await a.doc(), await b.doc(), a.file(), b.file()]).toEqual([MORE, MORE, MORE, MORE]);
});

test("what a reset leaves out stays elsewhere and is told, until the file has it again", async () => {
  const { a, b } = await lab.pair({ [FILE]: START });
  for (const each of [a, b]) await each.follow({ write: true });
  await lab.commit(b, MORE);
  await b.settle();
  await exchange([a, b]);
  expect(a.file()).toBe(MORE);
  for (const each of [a, b]) await each.pass(120_000);
  await lab.run(b, "reset", "-q", "--hard", "HEAD~1");
  await b.settle();
  await exchange([a, b]);
  // It is not written into the tree that git has just put back.
  expect([await b.doc(), b.file(), a.file()]).toEqual([MORE, START, MORE]);
  expect((await a.conflicts()).map(({ kind }) => kind)).toEqual(["set-aside"]);
  await lab.run(b, "reset", "-q", "--hard", "HEAD@{1}");
  await b.settle();
  await exchange([a, b]);
  expect([b.file(), await a.conflicts(), await b.conflicts()]).toEqual([MORE, [], []]);
});
