import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { QUIET_MS } from "../../daemon/git/read-tracked-text.ts";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const lab = clonesOfEach();

describe("a tracked file", () => {
  test("a tracked file that is looked at again while it waits is not waited for anew", async () => {
    const { a } = await lab.pair({ [FILE]: START });
    await a.saveAndLook(MORE);
    expect(a.status.why?.code).toBe("not-now");
    await a.pass(QUIET_MS / 4);
    await a.look();
    expect(a.status.why?.code).toBe("not-now");
    expect(a.nextLookInMs).toBe((QUIET_MS * 3) / 4);
    await a.pass(a.nextLookInMs);
    expect(await a.doc()).toBe(MORE);
  });

  test("a tracked file that a commit changes and another changes back is as the second left it", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    expect(await a.doc()).toBe(MORE);
    await lab.commit(a, START);
    await a.settle();
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
    await lab.run(a, "push", "-q");
    await lab.run(b, "pull", "-q");
    await b.settle();
    await exchange([a, b]);
    expect(await b.doc()).toBe(START);
  });

  test("a tracked file that is reverted by somebody without memsync is so everywhere after a pull", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    await lab.run(a, "push", "-q");
    await exchange([a, b]);
    await lab.run(b, "pull", "-q");
    await b.settle();
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "third");
    await lab.git.commit(lab.git.path("third"), { [FILE]: START });
    await lab.git.run(lab.git.path("third"), "push", "-q");
    await lab.run(b, "pull", "-q");
    await b.settle();
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
  });

  test("a tracked file of an older clone, or reset to an older commit, changes nothing by itself", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    await lab.run(a, "push", "-q");
    await exchange([a, b]);
    expect(await b.doc()).toBe(MORE);
    await lab.run(a, "reset", "-q", "--hard", "HEAD~1");
    await a.settle();
    await exchange([a, b]);
    expect([await a.doc(), a.file()]).toEqual([MORE, START]);
    await a.save(`Of a.\n\n${START}`);
    await exchange([a, b]);
    expect(await b.doc()).toBe(`Of a.\n\n${MORE}`);
  });

  test("pulled in steps does not bring back what its author has removed since", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    await lab.run(a, "push", "-q");
    await a.save(START);
    await exchange([a, b]);
    await lab.run(b, "pull", "-q");
    await b.settle();
    await exchange([a, b]);
    expect([b.file(), await a.doc(), await b.doc()]).toEqual([MORE, START, START]);
  });

  test("amended, rebased or squashed counts as an edit", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    await lab.commit(a, `${START}\nOne more, amended.\n`, "--amend");
    await a.settle();
    expect(await a.doc()).toBe(`${START}\nOne more, amended.\n`);
    await lab.git.commit(b.dir, { "README.md": "of b\n" });
    await lab.run(b, "push", "-q");
    await lab.run(a, "pull", "-q", "--rebase");
    await lab.commit(a, `${START}\nOne more, again.\n`);
    const squash = "sequence.editor=sed -i.bak 2s/pick/squash/";
    await lab.run(a, "-c", squash, "rebase", "-q", "-i", "HEAD~2");
    await a.settle();
    await exchange([a, b]);
    expect(await b.doc()).toBe(`${START}\nOne more, again.\n`);
  });

  test("a tracked file that a squash merge brings is an edit", async () => {
    const { a } = await lab.pair({ [FILE]: START });
    await lab.run(a, "checkout", "-qb", "feature");
    await lab.commit(a, MORE);
    await lab.commit(a, `${MORE}\nAnd another.\n`);
    await lab.run(a, "checkout", "-q", "main");
    await lab.run(a, "merge", "-q", "--squash", "feature");
    await lab.run(a, "commit", "-qm", "squashed");
    await a.settle();
    expect(await a.doc()).toBe(`${MORE}\nAnd another.\n`);
  });

  test("a tracked file of a forced pull changes nothing by itself, and what the document lacks is told", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "third");
    await lab.git.commit(lab.git.path("third"), { [FILE]: `${START}\nOf a stranger.\n` });
    await lab.git.run(lab.git.path("third"), "push", "-q");
    await lab.run(a, "fetch", "-q");
    await lab.run(a, "reset", "-q", "--hard", "origin/main");
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

  test("a tracked file of a forced push that is pulled by a rebase keeps what it lacks, and that is told", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    await lab.run(a, "push", "-q");
    await exchange([a, b]);
    await lab.run(b, "pull", "-q", "--rebase");
    await lab.commit(b, `Of b.\n\n${MORE}`);
    await b.settle();
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "third");
    await lab.git.run(lab.git.path("third"), "reset", "-q", "--hard", "HEAD~1");
    await lab.git.commit(lab.git.path("third"), { "README.md": "forced\n" });
    await lab.git.run(lab.git.path("third"), "push", "-qf");
    await lab.run(b, "pull", "-q", "--rebase");
    expect(b.file()).toBe(`Of b.\n\n${START}`);
    await b.settle();
    await exchange([a, b]);
    expect(await a.doc()).toBe(`Of b.\n\n${MORE}`);
    const [told] = await a.conflicts();
    expect(told?.kind).toBe("renewed");
    const versions = told?.versions.map(({ text, machine }) => [text, machine]);
    expect(versions).toEqual([
      ["", "b"],
      ["\nOne more.\n", "a"],
    ]);
  });

  test("a tracked file whose own commits are rebased upon others' is edited by both", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "third");
    const third = lab.git.path("third");
    await lab.git.commit(third, { [FILE]: START.replace("Build with make.\n\n", "") });
    await lab.git.run(third, "push", "-q");
    for (const at of [1, 2]) await lab.commit(a, `${START}\nOf a, ${at}.\n`);
    await a.settle();
    for (const text of ["first", "second"]) {
      await lab.run(a, "pull", "-q", "--rebase");
      await a.settle();
      await lab.git.commit(third, { "README.md": text });
      await lab.git.run(third, "push", "-q");
    }
    await exchange([a, b]);
    expect(await b.doc()).toBe("# Guide\n\nTest with make test.\n\nOf a, 2.\n");
    expect(await b.conflicts()).toEqual([]);
  });

  test("a tracked file that is reset and committed anew at once keeps what was there before, and that is told", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    await lab.run(a, "reset", "-q", "--soft", "HEAD~1");
    await lab.commit(a, START.replace("Build with make.", "Build with bun."));
    await a.settle();
    await exchange([a, b]);
    const text = `${START.replace("Build with make.", "Build with bun.")}\nOne more.\n`;
    expect(await b.doc()).toBe(text);
    expect((await b.conflicts()).map(({ kind }) => kind)).toEqual(["renewed"]);
  });

  test("a tracked file in a shallow clone is followed, and never loses what is not in its history", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, MORE);
    await a.settle();
    await lab.run(a, "push", "-q");
    const from = `file://${lab.git.path("origin.git")}`;
    await lab.git.run(lab.git.folder, "clone", "-q", "--depth", "1", from, "shallow");
    const shallow = await lab.machine("shallow");
    await exchange([a, b, shallow]);
    expect(await shallow.doc()).toBe(MORE);
    await lab.commit(a, `${MORE}\nThird.\n`);
    await a.settle();
    await lab.run(a, "push", "-q");
    await lab.run(shallow, "fetch", "-q", "--depth", "1");
    await lab.run(shallow, "reset", "-q", "--hard", "origin/main");
    await shallow.settle();
    await exchange([a, b, shallow]);
    expect(await shallow.doc()).toBe(`${MORE}\nThird.\n`);
    await shallow.save(`${START}\nThird.\n\nShallow.\n`);
    await exchange([a, b, shallow]);
    expect(await a.doc()).toBe(`${START}\nThird.\n\nShallow.\n`);
  });

  test("a tracked file in a second worktree is that worktree's own", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.run(a, "worktree", "add", "-q", lab.git.path("tree"), "-b", "feature");
    const tree = await lab.machine("tree");
    await lab.git.write(join(tree.dir, FILE), "# Another\n");
    await tree.settle();
    await exchange([a, b, tree]);
    expect(await a.doc()).toBe(START);
    expect(tree.status.note).toContain("is left alone on feature");
  });

  test("a tracked file in a submodule is judged by the submodule's own commits", async () => {
    await lab.git.repository("inner", { [FILE]: START });
    await lab.git.repository("outer", { "README.md": "x\n" });
    const add = [
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "add",
      "-q",
      lab.git.path("inner"),
      "in",
    ];
    await lab.git.run(lab.git.path("outer"), ...add);
    const dir = lab.git.path("outer", "in");
    const inner = await lab.machine("outer-in", dir);
    expect(await inner.doc()).toBe(START);
    await lab.commit(inner, MORE);
    await inner.settle();
    await lab.commit(inner, START);
    await inner.settle();
    expect(await inner.doc()).toBe(START);
    await lab.git.run(dir, "checkout", "-q", "--detach", "HEAD~1");
    await inner.settle();
    expect(inner.status.note).toContain("is left alone on a detached HEAD");
    expect(await inner.doc()).toBe(START);
  });

  test("a tracked file that two machines merge by git, too, has each line once", async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await lab.commit(a, `Of a.\n\n${START}`);
    await a.settle();
    await lab.commit(b, `${START}\nOf b.\n`);
    await b.settle();
    await exchange([a, b]);
    await lab.run(a, "push", "-q");
    await lab.run(b, "-c", "pull.rebase=false", "pull", "-q", "--no-edit");
    await b.settle();
    await lab.run(b, "push", "-q");
    await lab.run(a, "pull", "-q");
    await a.settle();
    await exchange([a, b]);
    expect(await a.doc()).toBe(`Of a.\n\n${START}\nOf b.\n`);
    expect(await b.doc()).toBe(await a.doc());
    expect(await a.conflicts()).toEqual([]);
  });
});
