import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { exchange, FollowedMachine } from "../support/followed-machines.ts";
import { createGitSandbox, type GitSandbox } from "../support/git-sandbox.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const FILE = "CLAUDE.md";
const START = "# Guide\n\nBuild with make.\n\nTest with make test.\n";
const MORE = `${START}\nOne more.\n`;

let git: GitSandbox;
let opened: FollowedMachine[];

beforeEach(() => {
  git = createGitSandbox();
  opened = [];
});

afterEach(async () => {
  for (const machine of opened) await machine.stop();
  git.remove();
});

async function machine(name: string, dir = git.path(name)): Promise<FollowedMachine> {
  const made = await FollowedMachine.open(name, dir, git.path(`home-${name}`), git.git);
  opened.push(made);
  await made.follow();
  return made;
}

/** Two clones of one repository, each followed; `files` are its first commit. */
async function clones(files: Readonly<Record<string, string>>) {
  await git.repository("first", files);
  await git.run(git.folder, "clone", "-q", "--bare", "first", "origin.git");
  for (const name of ["a", "b"]) await git.run(git.folder, "clone", "-q", "origin.git", name);
  const [a, b] = [await machine("a"), await machine("b")];
  await exchange([a, b]);
  return { a, b };
}

function run({ dir }: FollowedMachine, ...args: string[]): Promise<string> {
  return git.run(dir, ...args);
}

/** As git does in one step: no look is made in between. */
async function commit(at: FollowedMachine, text: string, ...options: string[]): Promise<void> {
  await git.write(join(at.dir, FILE), text);
  await run(at, "add", FILE);
  await run(at, "commit", "-qm", "x", ...options);
}

describe("a file that git takes away or empties", () => {
  async function untracked() {
    const pair = await clones({ "README.md": "x\n" });
    await pair.a.save(START);
    await exchange([pair.a, pair.b]);
    await pair.b.save(START);
    expect(await pair.b.doc()).toBe(START);
    return pair;
  }

  test("by a branch switch deletes nothing, and comes back by the merge", async () => {
    const { a, b } = await untracked();
    await run(a, "checkout", "-qb", "feature");
    await commit(a, START);
    await a.settle();
    expect(a.status.note).toContain("is left alone on feature");
    await run(a, "checkout", "-q", "main");
    expect(existsSync(join(a.dir, FILE))).toBe(false);
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect([await a.doc(), b.file()]).toEqual([START, START]);
    expect(a.status.note).toContain("is gone, which deletes nothing elsewhere");
    await b.save(MORE);
    await exchange([a, b]);
    await run(a, "merge", "-q", "feature");
    await a.settle();
    expect([await a.doc(), a.file()]).toEqual([MORE, START]);
    await a.save(`${START}\nOf a.\n`);
    await exchange([a, b]);
    expect(await b.doc()).toContain("Build with make.");
    expect(await b.doc()).toContain("One more.");
    expect(await b.doc()).toContain("Of a.");
  });

  test("by a stash of what is untracked, or a clean, deletes nothing", async () => {
    const { a, b } = await untracked();
    await run(a, "stash", "-qu");
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect([existsSync(join(a.dir, FILE)), b.file()]).toEqual([false, START]);
    await b.save(MORE);
    await exchange([a, b]);
    await run(a, "stash", "pop", "-q");
    await a.settle();
    expect([a.file(), await a.doc()]).toEqual([MORE, MORE]);
    await run(a, "clean", "-qfd");
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect(b.file()).toBe(MORE);
  });

  test("by a rename that changes the case of its name deletes nothing", async () => {
    const { a, b } = await untracked();
    await git.write(join(a.dir, "claude.md"), a.file());
    a.remove();
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect(b.file()).toBe(START);
  });

  test("is emptied by nobody where another commit is checked out than before", async () => {
    const { a, b } = await untracked();
    await run(a, "commit", "-q", "--allow-empty", "-m", "x");
    await git.write(join(a.dir, FILE), "");
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect(b.file()).toBe(START);
    expect(a.status.note).toContain("is empty since git moved");
  });

  test("is emptied by a person where git has not moved, after the grace", async () => {
    const { a, b } = await untracked();
    a.pass(60_000);
    await git.write(join(a.dir, FILE), "");
    await a.settle();
    expect(a.status.state).toBe("waiting");
    await a.settleAfterGrace();
    await exchange([a, b]);
    expect([await a.doc(), b.file()]).toEqual(["", ""]);
  });
});

describe("a tracked file", () => {
  test("that a commit changes and another changes back is as the second left it", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await commit(a, MORE);
    await a.settle();
    expect(await a.doc()).toBe(MORE);
    await commit(a, START);
    await a.settle();
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
    await run(a, "push", "-q");
    await run(b, "pull", "-q");
    await b.settle();
    await exchange([a, b]);
    expect(await b.doc()).toBe(START);
  });

  test("that is reverted by somebody without memsync is so everywhere after a pull", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await commit(a, MORE);
    await a.settle();
    await run(a, "push", "-q");
    await exchange([a, b]);
    await run(b, "pull", "-q");
    await b.settle();
    await git.run(git.folder, "clone", "-q", "origin.git", "third");
    await git.commit(git.path("third"), { [FILE]: START });
    await git.run(git.path("third"), "push", "-q");
    await run(b, "pull", "-q");
    await b.settle();
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
  });

  test("of an older clone, or reset to an older commit, changes nothing by itself", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await commit(a, MORE);
    await a.settle();
    await run(a, "push", "-q");
    await exchange([a, b]);
    expect(await b.doc()).toBe(MORE);
    await run(a, "reset", "-q", "--hard", "HEAD~1");
    await a.settle();
    await exchange([a, b]);
    expect([await a.doc(), a.file()]).toEqual([MORE, START]);
    await a.save(`Of a.\n\n${START}`);
    await exchange([a, b]);
    expect(await b.doc()).toBe(`Of a.\n\n${MORE}`);
  });

  test("pulled in steps does not bring back what its author has removed since", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await commit(a, MORE);
    await a.settle();
    await run(a, "push", "-q");
    await a.save(START);
    await exchange([a, b]);
    await run(b, "pull", "-q");
    await b.settle();
    await exchange([a, b]);
    expect([b.file(), await a.doc(), await b.doc()]).toEqual([MORE, START, START]);
  });

  test("amended, rebased or squashed counts as an edit", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await commit(a, MORE);
    await a.settle();
    await commit(a, `${START}\nOne more, amended.\n`, "--amend");
    await a.settle();
    expect(await a.doc()).toBe(`${START}\nOne more, amended.\n`);
    await git.commit(b.dir, { "README.md": "of b\n" });
    await run(b, "push", "-q");
    await run(a, "pull", "-q", "--rebase");
    await commit(a, `${START}\nOne more, again.\n`);
    const squash = "sequence.editor=sed -i.bak 2s/pick/squash/";
    await run(a, "-c", squash, "rebase", "-q", "-i", "HEAD~2");
    await a.settle();
    await exchange([a, b]);
    expect(await b.doc()).toBe(`${START}\nOne more, again.\n`);
  });

  test("that a squash merge brings is an edit", async () => {
    const { a } = await clones({ [FILE]: START });
    await run(a, "checkout", "-qb", "feature");
    await commit(a, MORE);
    await commit(a, `${MORE}\nAnd another.\n`);
    await run(a, "checkout", "-q", "main");
    await run(a, "merge", "-q", "--squash", "feature");
    await run(a, "commit", "-qm", "squashed");
    await a.settle();
    expect(await a.doc()).toBe(`${MORE}\nAnd another.\n`);
  });

  test("of a forced pull changes nothing by itself, and what the document lacks is told", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await commit(a, MORE);
    await a.settle();
    await git.run(git.folder, "clone", "-q", "origin.git", "third");
    await git.commit(git.path("third"), { [FILE]: `${START}\nOf a stranger.\n` });
    await git.run(git.path("third"), "push", "-q");
    await run(a, "fetch", "-q");
    await run(a, "reset", "-q", "--hard", "origin/main");
    await a.settle();
    await exchange([a, b]);
    expect(await b.doc()).toBe(MORE);
    const [told] = await b.conflicts();
    expect(told?.kind).toBe("elsewhere");
    expect(told?.versions.map(({ text }) => text)).toEqual(["", "Of a stranger.\n"]);
    await a.save(`${START}\nOf a stranger.\n\nMine.\n`);
    expect(await a.doc()).toContain("Mine.");
    expect(await a.doc()).toContain("One more.");
  });

  test("in a shallow clone is followed, and never loses what is not in its history", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await commit(a, MORE);
    await a.settle();
    await run(a, "push", "-q");
    const from = `file://${git.path("origin.git")}`;
    await git.run(git.folder, "clone", "-q", "--depth", "1", from, "shallow");
    const shallow = await machine("shallow");
    await exchange([a, b, shallow]);
    expect(await shallow.doc()).toBe(MORE);
    await commit(a, `${MORE}\nThird.\n`);
    await a.settle();
    await run(a, "push", "-q");
    await run(shallow, "fetch", "-q", "--depth", "1");
    await run(shallow, "reset", "-q", "--hard", "origin/main");
    await shallow.settle();
    await exchange([a, b, shallow]);
    expect(await shallow.doc()).toBe(`${MORE}\nThird.\n`);
    await shallow.save(`${START}\nThird.\n\nShallow.\n`);
    await exchange([a, b, shallow]);
    expect(await a.doc()).toBe(`${START}\nThird.\n\nShallow.\n`);
  });

  test("in a second worktree is that worktree's own", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await run(a, "worktree", "add", "-q", git.path("tree"), "-b", "feature");
    const tree = await machine("tree");
    await git.write(join(tree.dir, FILE), "# Another\n");
    await tree.settle();
    await exchange([a, b, tree]);
    expect(await a.doc()).toBe(START);
    expect(tree.status.note).toContain("is left alone on feature");
  });

  test("in a submodule is judged by the submodule's own commits", async () => {
    await git.repository("inner", { [FILE]: START });
    await git.repository("outer", { "README.md": "x\n" });
    const add = [
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "add",
      "-q",
      git.path("inner"),
      "in",
    ];
    await git.run(git.path("outer"), ...add);
    const dir = git.path("outer", "in");
    const inner = await machine("outer-in", dir);
    expect(await inner.doc()).toBe(START);
    await commit(inner, MORE);
    await inner.settle();
    await commit(inner, START);
    await inner.settle();
    expect(await inner.doc()).toBe(START);
    await git.run(dir, "checkout", "-q", "--detach", "HEAD~1");
    await inner.settle();
    expect(inner.status.note).toContain("is left alone on a detached HEAD");
    expect(await inner.doc()).toBe(START);
  });

  test("that two machines merge by git, too, has each line once", async () => {
    const { a, b } = await clones({ [FILE]: START });
    await commit(a, `Of a.\n\n${START}`);
    await a.settle();
    await commit(b, `${START}\nOf b.\n`);
    await b.settle();
    await exchange([a, b]);
    await run(a, "push", "-q");
    await run(b, "-c", "pull.rebase=false", "pull", "-q", "--no-edit");
    await b.settle();
    await run(b, "push", "-q");
    await run(a, "pull", "-q");
    await a.settle();
    await exchange([a, b]);
    expect(await a.doc()).toBe(`Of a.\n\n${START}\nOf b.\n`);
    expect(await b.doc()).toBe(await a.doc());
    expect(await a.conflicts()).toEqual([]);
  });
});

describe("what a pull brings together", () => {
  /** A stranger's clone: no daemon follows it. */
  async function strangerCommits(text: string): Promise<void> {
    const dir = git.path("stranger");
    if (!existsSync(dir)) await git.run(git.folder, "clone", "-q", "origin.git", "stranger");
    await git.run(dir, "pull", "-q");
    await git.commit(dir, { [FILE]: text });
    await git.run(dir, "push", "-q");
  }

  async function pull(at: FollowedMachine): Promise<void> {
    await run(at, "-c", "pull.rebase=false", "pull", "-q", "--no-edit");
    await at.settle();
  }

  /** A has committed `text`, told and pushed it; B has not pulled it. */
  async function told(text: string) {
    const pair = await clones({ [FILE]: START });
    await commit(pair.a, text);
    await pair.a.settle();
    await run(pair.a, "push", "-q");
    await exchange([pair.a, pair.b]);
    return pair;
  }

  const BLOCK = "\n```bash\nmake deploy\n```\n";

  test("has a block whole that has lines in common with one that was told", async () => {
    const { a, b } = await told(`${START}${BLOCK}`);
    const text = `${START}${BLOCK}\n\`\`\`bash\nmake lint\n\`\`\`\n`;
    await strangerCommits(text);
    await pull(b);
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([text, text]);
  });

  test("removes what was told and a later commit took away", async () => {
    const { a, b } = await told(MORE);
    await strangerCommits(START);
    await pull(b);
    await exchange([a, b]);
    await pull(a);
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
  });

  test("removes what somebody dropped when they merged", async () => {
    const { a, b } = await told(MORE);
    await commit(b, `Of b.\n\n${START}`);
    await b.settle();
    await run(b, "fetch", "-q");
    await run(b, "merge", "-q", "--no-commit", "origin/main");
    await git.write(join(b.dir, FILE), `Of b.\n\n${START}`);
    await run(b, "commit", "-qam", "merged");
    await b.settle();
    await run(b, "push", "-q");
    await exchange([a, b]);
    await pull(a);
    await exchange([a, b]);
    expect(await a.doc()).toBe(`Of b.\n\n${START}`);
  });

  test("does not bring back what its author has removed since, however much came after", async () => {
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
  const { a, b } = await clones({ [FILE]: START });
  await b.follow({ write: true });
  b.pass(120_000);
  await a.save(MORE);
  await exchange([a, b]);
  expect(b.file()).toBe(MORE);
  await git.write(join(b.dir, ".git", "index.lock"), "");
  b.pass(5000);
  b.put(START);
  b.pass(120_000);
  await b.settle();
  await rm(join(b.dir, ".git", "index.lock"));
  await b.settle();
  await exchange([a, b]);
  expect(await a.doc()).toBe(MORE);
  expect((await a.conflicts()).map(({ kind }) => kind)).toEqual(["unseen"]);
});

describe("a file that was made anew after it was gone", () => {
  test("keeps what the document has, and that is told", async () => {
    const { a, b } = await clones({ "README.md": "x\n" });
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

  test("by a command shows others' lines as new as they are", async () => {
    const { a, b } = await clones({ "README.md": "x\n" });
    await a.save(START);
    await exchange([a, b]);
    a.remove();
    await a.settleAfterGrace();
    await b.save(MORE);
    await exchange([a, b]);
    a.pass(120_000);
    await a.save(await a.doc());
    await a.save(START);
    await exchange([a, b]);
    expect(await b.doc()).toBe(MORE);
    expect((await b.conflicts()).map(({ kind }) => kind)).toContain("unseen");
  });

  test("after git had emptied it keeps what the document has", async () => {
    const { a, b } = await clones({ "README.md": "x\n" });
    await a.save(START);
    await exchange([a, b]);
    await git.write(join(a.dir, FILE), "");
    await run(a, "commit", "-q", "--allow-empty", "-m", "x");
    await a.settleAfterGrace();
    await a.save("Use bun.\n");
    await exchange([a, b]);
    expect(await b.doc()).toContain("Build with make.");
    expect(await b.doc()).toContain("Use bun.");
  });
});
