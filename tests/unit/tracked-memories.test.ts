import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPlace } from "../../daemon/files/names/folder-place.ts";
import { putKnownPlace } from "../../daemon/files/names/place-store.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { memoryCommits } from "../support/real-data.ts";
import { replayCommits } from "../support/replay-memories.ts";
import { SERENA } from "../support/serena-machines.ts";

/** Who saves later than that has surely read what others changed. */
const MINUTE_MS = 61_000;

const sandbox = createGitSandbox();
afterAll(() => sandbox.remove());

let a: MemoryMachine;
let b: MemoryMachine;
beforeEach(async () => {
  a = await MemoryMachine.start("anna", SERENA);
  b = await MemoryMachine.start("ben", SERENA);
});
afterEach(async () => {
  for (const machine of [a, b]) await machine.remove();
});

function git(machine: MemoryMachine, ...args: readonly string[]): Promise<string> {
  return sandbox.run(machine.project, ...args);
}

async function commit(machine: MemoryMachine, message = "memories"): Promise<void> {
  await git(machine, "add", "-A");
  await git(machine, "commit", "-q", "-m", message);
}

/** A repository with some memories, and a clone of it on the other machine. */
async function makeClones(names = ["core.md", "lsp/clangd.md"]): Promise<void> {
  await git(a, "init", "-q", "-b", "main");
  for (const name of names) a.save(name, textOf(name));
  await commit(a);
  rmSync(b.project, { recursive: true });
  await sandbox.run(b.folder, "clone", "-q", a.project, b.project);
  await settleMemories(a, b);
}

const textOf = (name: string) => `# ${name}\n\none\ntwo\nthree\n`;

function write(machine: MemoryMachine): void {
  machine.links = machine.links.map((link) => ({ ...link, write: true }));
}

/** As `memsync link` notes it in a repository. */
async function linkAsOfGit({ store, project }: MemoryMachine): Promise<void> {
  const found = await readPlace(project);
  if (found.kind !== "folder") throw new Error("the project's folder is not there");
  const { place } = found;
  const of = { derivedId: undefined, rootCommit: undefined, change: undefined };
  const known = { place, evidence: "root-commit", ...of } as const;
  await store.write(({ db }) => putKnownPlace(db, project, known));
}

async function standing(machine: MemoryMachine): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const name of [...machine.files(), "new.md"].sort()) {
    const values = await machine.values(name);
    if (values.length > 0) all[name] = values;
  }
  return all;
}

function notes(machine: MemoryMachine): string[] {
  return machine.keeper.status.flatMap((each) =>
    each.notes.map(({ name, why }) => `${name} ${why.code}`),
  );
}

function asked(machine: MemoryMachine): string[] {
  return machine.keeper.status.flatMap((each) => each.asked.map(({ name }) => name));
}

test("a branch that takes away and brings dozens of memories changes none, and asks nothing", async () => {
  const names = Array.from({ length: 30 }, (_, at) => `m${at}.md`);
  await makeClones(names);
  const before = await standing(a);
  await git(a, "checkout", "-q", "-b", "bare");
  await git(a, "rm", "-q", "-r", ".serena");
  await git(a, "commit", "-q", "-m", "none");
  await settleMemories(a, b);
  expect(a.files()).toEqual([]);
  expect(asked(a)).toEqual([]);
  for (const name of names) a.save(name, "of the branch\n");
  a.save("new.md", "new\n");
  await commit(a);
  await settleMemories(a, b);
  expect(a.keeper.status).toMatchObject([{ git: { code: "leave-branch", branch: "bare" } }]);
  await git(a, "checkout", "-q", "main");
  await settleMemories(a, b);
  expect(await standing(a)).toEqual(before);
  expect(asked(a)).toEqual([]);
  expect(notes(a)).toEqual([]);
});

test("an edit on the default branch is everywhere, and is no news where git brings it later", async () => {
  await makeClones();
  a.save("core.md", "# core\n\none\ntwo\nthree\nfour\n");
  await settleMemories(a, b);
  expect(await b.values("core.md")).toEqual(["# core\n\none\ntwo\nthree\nfour\n"]);
  // git tracks it there, and nobody said that it is written.
  expect(b.read("core.md")).toBe(textOf("core.md"));
  expect(notes(b)).toEqual(["core.md memory-tracked"]);
  await commit(a);
  await git(b, "pull", "-q");
  await settleMemories(a, b);
  expect(await a.values("core.md")).toEqual(["# core\n\none\ntwo\nthree\nfour\n"]);
  expect(notes(b)).toEqual([]);
});

test("a commit of somebody without memsync is an edit of what was committed before", async () => {
  await makeClones();
  const other = join(a.folder, "other");
  await sandbox.run(a.folder, "clone", "-q", a.project, other);
  const path = join(other, ".serena", "memories", "core.md");
  writeFileSync(path, textOf("core.md").replace("one", "ONE"));
  await sandbox.run(other, "commit", "-q", "-a", "-m", "mended");
  // Meanwhile somebody edits the same memory elsewhere.
  write(b);
  b.save("core.md", textOf("core.md").replace("three", "THREE"));
  await settleMemories(a, b);
  await git(a, "pull", "-q", other, "main");
  await settleMemories(a, b);
  const merged = textOf("core.md").replace("one", "ONE").replace("three", "THREE");
  expect(await a.values("core.md")).toEqual([merged]);
  expect(b.read("core.md")).toBe(merged);
});

test("a pull of an earlier text than the memory has undoes nothing", async () => {
  await makeClones();
  a.save("core.md", textOf("core.md").replace("two", "2"));
  await settleMemories(a, b);
  await commit(a);
  a.save("core.md", textOf("core.md").replace("two", "zwei"));
  await settleMemories(a, b);
  await git(b, "pull", "-q");
  await settleMemories(a, b);
  expect(await b.values("core.md")).toEqual([textOf("core.md").replace("two", "zwei")]);
  expect(b.read("core.md")).toBe(textOf("core.md").replace("two", "2"));
});

test("what a stash, a checkout or a reset puts back is no edit, and is told", async () => {
  await makeClones();
  write(a);
  const edited = textOf("core.md").replace("two", "2");
  a.save("core.md", edited);
  await settleMemories(a, b);
  await git(a, "stash", "-q");
  await settleMemories(a, b);
  expect(await a.values("core.md")).toEqual([edited]);
  expect(a.read("core.md")).toBe(textOf("core.md"));
  expect(notes(a)).toEqual(["core.md memory-as-in-git"]);
  await git(a, "stash", "pop", "-q");
  await settleMemories(a, b);
  expect(await a.values("core.md")).toEqual([edited]);
  expect(notes(a)).toEqual([]);
  await commit(a);
  await settleMemories(a, b);
  await git(a, "reset", "-q", "--hard", "HEAD~1");
  await settleMemories(a, b);
  expect(await a.values("core.md")).toEqual([edited]);
  // Whoever edits what git has put there has not seen the memory.
  a.save("core.md", textOf("core.md").replace("three", "3"));
  await settleMemories(a, b);
  expect(await a.values("core.md")).toEqual([textOf("core.md").replace("three", "3"), edited]);
});

test("files that git does not know are followed on every branch, and stashed ones are not asked about", async () => {
  await makeClones();
  await git(a, "checkout", "-q", "-b", "topic");
  a.save("new.md", "new\n");
  await settleMemories(a, b);
  expect(await b.values("new.md")).toEqual(["new\n"]);
  await git(a, "stash", "-q", "-u");
  await settleMemories(a, b);
  expect(a.files()).toEqual(["core.md", "lsp/clangd.md"]);
  expect(asked(a)).toEqual([]);
  await git(a, "stash", "pop", "-q");
  await settleMemories(a, b);
  expect(await a.values("new.md")).toEqual(["new\n"]);
  // Committed and left behind in one go, with no look in between.
  await commit(a);
  await git(a, "checkout", "-q", "main");
  await settleMemories(a, b);
  expect(a.files()).toEqual(["core.md", "lsp/clangd.md"]);
  expect(asked(a)).toEqual([]);
  a.drop("core.md");
  await settleMemories(a, b);
  expect(asked(a)).toEqual(["core.md"]);
  // One that somebody asks for needs no further yes.
  await a.settle("core.md", "restore");
  a.world.advance(11_000);
  await settleMemories(a, b);
  expect(a.read("core.md")).toBe(textOf("core.md"));
});

test("a memory is made only where git ignores it, until somebody says so", async () => {
  await makeClones();
  await git(b, "config", "user.name", "b");
  writeFileSync(join(b.project, ".gitignore"), "ignored-*.md\n");
  await commit(b, "ignore");
  a.save("new.md", "new\n");
  a.save("ignored-1.md", "ignored\n");
  await settleMemories(a, b);
  expect(b.read("ignored-1.md")).toBe("ignored\n");
  expect(b.read("new.md")).toBeUndefined();
  expect(notes(b)).toEqual(["new.md memory-unasked"]);
  expect(await git(b, "status", "--porcelain")).toBe("");
  write(b);
  await settleMemories(a, b);
  b.world.advance(61_000);
  await settleMemories(a, b);
  expect(b.read("new.md")).toBe("new\n");
});

test("during a merge that waits for a person nothing is read or written", async () => {
  await makeClones();
  for (const machine of [a, b]) write(machine);
  await git(a, "checkout", "-q", "-b", "topic");
  a.save("core.md", "of the topic\n");
  await commit(a);
  await git(a, "checkout", "-q", "main");
  a.save("core.md", "of main\n");
  await commit(a);
  await settleMemories(a, b);
  await sandbox.runToFailure(a.project, "merge", "-q", "topic");
  b.save("lsp/clangd.md", "from b\n");
  await settleMemories(a, b);
  expect(a.read("core.md")).toContain("<<<<<<<");
  expect(await a.values("core.md")).toEqual(["of main\n"]);
  expect(a.read("lsp/clangd.md")).toBe(textOf("lsp/clangd.md"));
  expect(a.keeper.status).toMatchObject([{ git: { code: "leave-busy", operation: "merge" } }]);
  await git(a, "merge", "--abort");
  await settleMemories(a, b);
  expect(a.read("lsp/clangd.md")).toBe("from b\n");
  expect(await a.values("core.md")).toEqual(["of main\n"]);
});

test("nothing is written on another branch, nor into a tree whose .git is gone", async () => {
  await makeClones();
  write(a);
  await git(a, "checkout", "-q", "-b", "topic");
  b.save("core.md", "from b\n");
  b.save("lsp/clangd.md", "from b\n");
  await settleMemories(a, b);
  expect(await git(a, "status", "--porcelain")).toBe("");
  await git(a, "checkout", "-q", "main");
  await settleMemories(a, b);
  expect(a.read("core.md")).toBe("from b\n");
  await linkAsOfGit(a);
  rmSync(join(a.project, ".git"), { recursive: true });
  a.save("core.md", "without git\n");
  await a.look();
  expect(await a.values("core.md")).toEqual(["from b\n"]);
  expect(a.keeper.status).toMatchObject([{ git: { code: "leave-lost" } }]);
});

test("a clone that has another text than the memory leaves both as they are, and says so", async () => {
  await makeClones(["core.md"]);
  const c = await MemoryMachine.start("carl", SERENA);
  write(c);
  await exchangeKept(a, b, c);
  await c.writeMemory(c.keyOf("core.md"), "of somebody else\n");
  rmSync(c.project, { recursive: true });
  await sandbox.run(c.folder, "clone", "-q", a.project, c.project);
  writeFileSync(join(c.project, ".serena", "memories", "core.md"), "committed elsewhere\n");
  await sandbox.run(c.project, "commit", "-q", "-a", "-m", "elsewhere");
  await c.look();
  await c.look();
  expect(await c.values("core.md")).toEqual(["of somebody else\n"]);
  expect(c.read("core.md")).toBe("committed elsewhere\n");
  expect(notes(c)).toEqual(["core.md memory-as-in-git"]);
  expect(existsSync(join(c.memories, "core.md"))).toBe(true);
  await c.remove();
});

test("a project's history, commit by commit, is pulled without a deletion or a question", async () => {
  await replayCommits(sandbox, [a, b], memoryCommits("small"));
});

test("CRLF that git makes at a checkout are nobody's edit, and are kept", async () => {
  await makeClones();
  for (const machine of [a, b]) write(machine);
  await git(b, "config", "core.autocrlf", "true");
  rmSync(b.memories, { recursive: true });
  await git(b, "checkout", "-q", "--", ".");
  await settleMemories(a, b);
  const [text, crlf] = [textOf("core.md"), (of: string) => of.replaceAll("\n", "\r\n")];
  expect(b.read("core.md")).toBe(crlf(text));
  // Each machine found it by itself.
  expect(await b.values("core.md")).toEqual([text, text]);
  expect(notes(b)).toEqual([]);
  b.save("core.md", crlf(text.replace("two", "two, by ben")));
  await settleMemories(a, b);
  expect(a.read("core.md")).toBe(text.replace("two", "two, by ben"));
  a.world.advance(MINUTE_MS);
  await a.look();
  a.save("core.md", text.replace("two", "two, by both"));
  await settleMemories(a, b);
  expect(b.read("core.md")).toBe(crlf(text.replace("two", "two, by both")));
  expect(await b.values("core.md")).toEqual([text.replace("two", "two, by both")]);
});

test("who may commit another version over his own is told so, and both have what was committed", async () => {
  await makeClones(["core.md"]);
  for (const machine of [a, b]) write(machine);
  a.save("core.md", "# core.md\n\none of anna\ntwo\nthree\n");
  await commit(a);
  await a.look();
  b.save("core.md", "# core.md\n\none of ben\ntwo\nthree\n");
  await settleMemories(a, b);
  for (const machine of [a, b]) expect(machine.read("core.md")).toContain("one of ben");
  expect(notes(a)).toEqual(["core.md memory-aside-in-git"]);
  expect(notes(b)).toEqual([]);
  // The branch lacks the line then; the conflict has it still, on both machines.
  await commit(a);
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect((await machine.values("core.md")).join()).toContain("one of anna");
  }
  a.save("core.md", "# core.md\n\none of anna\none of ben\ntwo\nthree\n");
  await settleMemories(a, b);
  expect(notes(a)).toEqual([]);
});
