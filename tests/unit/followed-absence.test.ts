import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const lab = clonesOfEach();

describe("a file that git takes away or empties", () => {
  async function untracked() {
    const pair = await lab.pair({ "README.md": "x\n" });
    await pair.a.save(START);
    await exchange([pair.a, pair.b]);
    await pair.b.save(START);
    expect(await pair.b.doc()).toBe(START);
    return pair;
  }

  test("a file that a sparse checkout leaves out is left alone, and comes back with it", async () => {
    const { a } = await lab.pair({ [FILE]: START, "sub/a.md": "x\n" });
    await a.settle();
    await lab.run(a, "sparse-checkout", "set", "--no-cone", "/sub/");
    await a.settleAfterGrace();
    expect(a.status).toMatchObject({ state: "left-alone", note: "is not checked out here" });
    expect([existsSync(join(a.dir, FILE)), await a.doc()]).toEqual([false, START]);
    await lab.run(a, "sparse-checkout", "disable");
    await a.settle();
    expect([a.status.state, a.file(), await a.doc()]).toEqual(["upwards", START, START]);
  });

  test("a file that git takes away or empties by a branch switch deletes nothing, and comes back by the merge", async () => {
    const { a, b } = await untracked();
    await lab.run(a, "checkout", "-qb", "feature");
    await lab.commit(a, START);
    await a.settle();
    expect(a.status.note).toContain("is left alone on feature");
    await lab.run(a, "checkout", "-q", "main");
    expect(existsSync(join(a.dir, FILE))).toBe(false);
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect([await a.doc(), b.file()]).toEqual([START, START]);
    expect(a.status.note).toContain("is gone, which deletes nothing elsewhere");
    await b.save(MORE);
    await exchange([a, b]);
    await lab.run(a, "merge", "-q", "feature");
    await a.settle();
    expect([await a.doc(), a.file()]).toEqual([MORE, START]);
    await a.save(`${START}\nOf a.\n`);
    await exchange([a, b]);
    expect(await b.doc()).toContain("Build with make.");
    expect(await b.doc()).toContain("One more.");
    expect(await b.doc()).toContain("Of a.");
  });

  test("a file that git takes away or empties by a stash of what is untracked, or a clean, deletes nothing", async () => {
    const { a, b } = await untracked();
    await lab.run(a, "stash", "-qu");
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect([existsSync(join(a.dir, FILE)), b.file()]).toEqual([false, START]);
    await b.save(MORE);
    await exchange([a, b]);
    await lab.run(a, "stash", "pop", "-q");
    await a.settle();
    expect([a.file(), await a.doc()]).toEqual([MORE, MORE]);
    await lab.run(a, "clean", "-qfd");
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect(b.file()).toBe(MORE);
  });

  test("a file that git takes away or empties by a rename that changes the case of its name deletes nothing", async () => {
    const { a, b } = await untracked();
    await lab.git.write(join(a.dir, "claude.md"), a.file());
    a.remove();
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect(b.file()).toBe(START);
  });

  test("a file that git takes away or empties is emptied by nobody where another commit is checked out than before", async () => {
    const { a, b } = await untracked();
    await lab.run(a, "commit", "-q", "--allow-empty", "-m", "x");
    await lab.git.write(join(a.dir, FILE), "");
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect(b.file()).toBe(START);
    expect(a.status.note).toContain("is empty since git moved");
  });

  test("a file that git takes away or empties is emptied by a person where git has not moved, after the grace", async () => {
    const { a, b } = await untracked();
    await a.pass(60_000);
    await lab.git.write(join(a.dir, FILE), "");
    await a.settle();
    expect(a.status.state).toBe("waiting");
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect([await a.doc(), b.file()]).toEqual(["", ""]);
  });
});

describe("what git sets aside of a tracked file", () => {
  /** Saved by A and not committed; B has it, too. */
  async function saved() {
    const pair = await lab.pair({ [FILE]: START });
    await pair.a.save(MORE);
    await exchange([pair.a, pair.b]);
    await pair.a.pass(120_000);
    return pair;
  }

  async function expectKept({ a, b }: Awaited<ReturnType<typeof saved>>): Promise<void> {
    expect(a.file()).toBe(START);
    await a.settle();
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([MORE, MORE]);
    const told = await b.conflicts();
    expect(told.map(({ kind }) => kind)).toEqual(["set-aside"]);
    expect(told[0]?.versions.map(({ text }) => text)).toEqual(["", "\nOne more.\n"]);
  }

  test("what git sets aside of a tracked file by a stash stays elsewhere, and is settled when it comes back", async () => {
    const pair = await saved();
    const { a, b } = pair;
    await lab.run(a, "stash", "-q");
    await expectKept(pair);
    await lab.run(a, "stash", "pop", "-q");
    await a.settle();
    await exchange([a, b]);
    expect([await a.doc(), await b.doc(), a.file()]).toEqual([MORE, MORE, MORE]);
    expect(await b.conflicts()).toEqual([]);
    await a.pass(120_000);
    await a.save(START);
    await exchange([a, b]);
    expect(await b.doc()).toBe(START);
  });

  test("what git sets aside of a tracked file by a commit on another branch stays, and comes once with the merge", async () => {
    const pair = await saved();
    const { a, b } = pair;
    await lab.run(a, "checkout", "-qb", "feature");
    await lab.run(a, "commit", "-qam", "x");
    await a.settle();
    await lab.run(a, "checkout", "-q", "main");
    await expectKept(pair);
    await lab.git.commit(a.dir, { "README.md": "x\n" });
    await a.settle();
    await lab.run(a, "merge", "-q", "--no-edit", "feature");
    await a.settle();
    await exchange([a, b]);
    expect([await a.doc(), await b.doc(), a.file()]).toEqual([MORE, MORE, MORE]);
    expect(await b.conflicts()).toEqual([]);
  });

  test("what git sets aside of a tracked file stays while a pull brings others' changes beside it", async () => {
    const { a, b } = await saved();
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "third");
    await lab.git.commit(lab.git.path("third"), { [FILE]: `Of a stranger.\n\n${START}` });
    await lab.git.run(lab.git.path("third"), "push", "-q");
    await lab.run(a, "stash", "-q");
    await lab.run(a, "pull", "-q");
    await a.settle();
    await exchange([a, b]);
    expect(await b.doc()).toBe(`Of a stranger.\n\n${MORE}`);
    await lab.run(a, "stash", "pop", "-q");
    await a.settle();
    await exchange([a, b]);
    expect(await b.doc()).toBe(`Of a stranger.\n\n${MORE}`);
    expect(await b.conflicts()).toEqual([]);
  });

  test("what git sets aside of a tracked file is not written back beneath the stash where memsync may write", async () => {
    const { a, b } = await saved();
    await a.follow({ write: true });
    await lab.run(a, "stash", "-q");
    await a.settle();
    await exchange([a, b]);
    expect(a.file()).toBe(START);
    expect(a.status.note).toContain("what becomes of lines that git moved");
    await lab.run(a, "stash", "pop", "-q");
    await a.settle();
    await exchange([a, b]);
    expect([a.file(), await b.doc()]).toEqual([MORE, MORE]);
    expect(a.status.note).toBeUndefined();
  });

  /** Two changes far from each other, saved by A and not committed. */
  const TWICE = MORE.replace("Build with make.", "Build with bun.");

  async function savedTwice() {
    const pair = await saved();
    await pair.a.save(TWICE);
    await exchange([pair.a, pair.b]);
    await pair.a.pass(120_000);
    return pair;
  }

  test.each<readonly [string, (a: FollowedMachine) => Promise<void>]>([
    [
      "a stash and another save at once",
      async (a) => {
        await lab.run(a, "stash", "-q");
        await lab.git.write(join(a.dir, FILE), `${START}\nx\n`);
      },
    ],
    [
      "a stash of what is not staged",
      async (a) => {
        await lab.git.write(join(a.dir, FILE), MORE);
        await lab.run(a, "add", FILE);
        await lab.git.write(join(a.dir, FILE), TWICE);
        await lab.run(a, "stash", "-q", "--keep-index");
      },
    ],
    [
      "a stash of what is staged",
      async (a) => {
        await lab.git.write(join(a.dir, FILE), MORE);
        await lab.run(a, "add", FILE);
        await lab.git.write(join(a.dir, FILE), TWICE);
        await lab.run(a, "stash", "-q", "--staged");
      },
    ],
    [
      "a commit on another branch that changes more, and is amended",
      async (a) => {
        await lab.run(a, "checkout", "-qb", "feature");
        await lab.run(a, "commit", "-qam", "x");
        await lab.git.write(join(a.dir, FILE), `Of a branch.\n\n${TWICE}`);
        await lab.run(a, "commit", "-qa", "--amend", "-m", "x");
        await lab.run(a, "checkout", "-q", "main");
      },
    ],
  ])("by %s stays line by line", async (_, act) => {
    const { a, b } = await savedTwice();
    await act(a);
    await a.settle();
    await exchange([a, b]);
    for (const line of ["Build with bun.", "One more."]) expect(await b.doc()).toContain(line);
    expect((await b.doc()).match(/Build with/g)).toHaveLength(1);
    expect((await b.conflicts()).map(({ kind }) => kind)).toContain("set-aside");
  });

  test("what git sets aside of a tracked file is taken back everywhere by who checks the commit out again", async () => {
    const { a, b } = await saved();
    await lab.run(a, "checkout", "-q", "--", FILE);
    await a.settle();
    await exchange([a, b]);
    expect([await b.doc(), await b.conflicts()]).toEqual([START, []]);
  });
});

describe("a file that was made anew after it was gone", () => {
  test("a file that was made anew after it was gone keeps what the document has, and that is told", async () => {
    const { a, b } = await lab.pair({ "README.md": "x\n" });
    await a.save(START);
    await exchange([a, b]);
    a.remove();
    await a.settleAfterGrace();
    await a.save("# Guide\n\nUse bun.\n");
    await exchange([a, b]);
    for (const line of ["Build with make.", "Test with make test.", "Use bun."]) {
      expect(await b.doc()).toContain(line);
    }
    const [renewed] = await b.conflicts();
    expect(renewed?.kind).toBe("renewed");
    expect(a.file()).toBe(await a.doc());
  });

  test("a file that was made anew after it was gone brings back what others have deleted meanwhile, and that is told", async () => {
    const { a, b } = await lab.pair({ "README.md": "x\n" });
    await a.save(START);
    await b.save(START);
    await exchange([a, b]);
    for (const each of [a, b]) await each.pass(120_000);
    a.remove();
    await a.settleAfterGrace();
    await b.save(START.replace("Test with make test.\n", ""));
    await exchange([a, b]);
    await a.pass(120_000);
    await a.save(`${START}\nOf a.\n`);
    await exchange([a, b]);
    expect(await b.doc()).toBe(`${START}\nOf a.\n`);
    const [back] = await b.conflicts();
    expect([back?.kind, back?.versions.map(({ text }) => text.trim())]).toEqual([
      "renewed",
      ["", "Test with make test.\n\nOf a."],
    ]);
  });

  test("as it was says nothing of that: the deletion stands", async () => {
    const { a, b } = await lab.pair({ "README.md": "x\n" });
    await a.save(START);
    await b.save(START);
    await exchange([a, b]);
    for (const each of [a, b]) await each.pass(120_000);
    a.remove();
    await a.settleAfterGrace();
    const without = START.replace("Test with make test.\n", "");
    await b.save(without);
    await exchange([a, b]);
    await a.save(START);
    await exchange([a, b]);
    expect([a.file(), await b.conflicts()]).toEqual([without, []]);
  });

  test("a file that was made anew after it was gone by a command shows others' lines as new as they are", async () => {
    const { a, b } = await lab.pair({ "README.md": "x\n" });
    await a.save(START);
    await exchange([a, b]);
    a.remove();
    await a.settleAfterGrace();
    await b.save(MORE);
    await exchange([a, b]);
    await a.pass(120_000);
    await a.save(await a.doc());
    await a.save(START);
    await exchange([a, b]);
    expect(await b.doc()).toBe(MORE);
    expect((await b.conflicts()).map(({ kind }) => kind)).toContain("unseen");
  });

  test("after git had emptied it keeps what the document has", async () => {
    const { a, b } = await lab.pair({ "README.md": "x\n" });
    await a.save(START);
    await exchange([a, b]);
    await lab.git.write(join(a.dir, FILE), "");
    await lab.run(a, "commit", "-q", "--allow-empty", "-m", "x");
    await a.settleAfterGrace();
    await a.save("Use bun.\n");
    await exchange([a, b]);
    expect(await b.doc()).toContain("Build with make.");
    expect(await b.doc()).toContain("Use bun.");
  });
});
