import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { appendFile, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { TREE_QUIET_MS } from "../../daemon/files/names/tree-guard.ts";
import { exchange } from "../support/exchange-machines.ts";
import { FollowedMachine } from "../support/followed-machines.ts";
import { GitGate, type RunningGit } from "../support/gated-git.ts";
import { createGitSandbox, type GitSandbox } from "../support/git-sandbox.ts";

setDefaultTimeout(60_000);

const FILE = "CLAUDE.md";
const TEXT = "# Guide\n\nBuild with make.\n";
const DONE = { status: 0, stderr: "" };

let git: GitSandbox;
let gate: GitGate;
let opened: FollowedMachine[];
/** Another machine of the project, from which the document has its text. */
let author: FollowedMachine;

beforeEach(async () => {
  git = createGitSandbox();
  gate = new GitGate(git);
  opened = [];
  mkdirSync(git.path("author"));
  author = await machine("author");
  await author.follow();
  await author.save(TEXT);
});

afterEach(async () => {
  for (const each of opened) await each.stop();
  git.remove();
});

async function machine(name: string, dir = git.path(name)): Promise<FollowedMachine> {
  const made = await FollowedMachine.open(name, dir, git.path(`home-${name}`), git.git);
  opened.push(made);
  return made;
}

/** Follows a folder whose user has agreed to writing, on a machine that has the document. */
async function agreed(dir: string): Promise<FollowedMachine> {
  const made = await machine("b", dir);
  await exchange([author, made]);
  await made.follow({ write: true });
  return made;
}

/** Looks again and again, for much longer than git is to be quiet. */
async function lookForLong(at: FollowedMachine): Promise<void> {
  for (let times = 0; times < 3; times++) {
    await at.pass(2 * TREE_QUIET_MS);
    await at.settle();
  }
}

function isMade(at: FollowedMachine): boolean {
  return existsSync(join(at.dir, FILE));
}

/** Nothing is made for as long as git stands at the gate, and git ends as it should. */
async function neverInItsWay(at: FollowedMachine, running: RunningGit): Promise<void> {
  await lookForLong(at);
  expect(isMade(at)).toBe(false);
  await gate.open();
  expect(await running.ended).toEqual(DONE);
  expect(await git.run(at.dir, "status", "--porcelain")).toBe("");
  await at.settle();
}

/** A repository that tracks the file, and one that does not, as others have pushed them. */
async function origin(files: Readonly<Record<string, string>> = { [FILE]: TEXT }): Promise<void> {
  await git.repository("first", files);
  await git.run(git.folder, "clone", "-q", "--bare", "first", "origin.git");
}

test("nothing is made in a clone that waits for its repository", async () => {
  await origin();
  const clone = gate.start(git.folder, "clone", "-q", gate.url("origin.git"), "b");
  await gate.reached();
  const b = await agreed(git.path("b"));
  expect(b.status).toMatchObject({ state: "left-alone" });
  expect(b.status.note).toContain("before there is a commit here");
  await neverInItsWay(b, clone);
  expect(b.status).toMatchObject({ state: "followed" });
});

test("nothing is made in a new repository while it is pulled into", async () => {
  await origin();
  await git.run(git.folder, "init", "-q", "-b", "main", "b");
  const pull = gate.start(git.path("b"), "pull", "-q", gate.url("origin.git"), "main");
  await gate.reached();
  const b = await agreed(git.path("b"));
  await neverInItsWay(b, pull);
});

test("nothing is made in a new repository that has a remote, until there is a commit", async () => {
  await origin({ "README.md": "x\n" });
  await git.run(git.folder, "init", "-q", "-b", "main", "b");
  await git.run(git.path("b"), "remote", "add", "origin", git.path("origin.git"));
  const b = await agreed(git.path("b"));
  await lookForLong(b);
  expect(isMade(b)).toBe(false);
  await git.run(b.dir, "pull", "-q", "origin", "main");
  await b.settle();
  expect(b.status).toMatchObject({ state: "waiting" });
  await lookForLong(b);
  expect(b.file()).toBe(TEXT);
});

test("nothing is made in a submodule that is being fetched, or is not checked out", async () => {
  await origin();
  await git.repository("outer", { "README.md": "x\n" });
  const allow = ["-c", "protocol.file.allow=always"];
  const added = ["submodule", "--quiet", "add", git.path("origin.git"), "sub"];
  await git.run(git.path("outer"), ...allow, ...added);
  await git.run(
    git.path("outer"),
    "config",
    "-f",
    ".gitmodules",
    "submodule.sub.url",
    gate.url("origin.git"),
  );
  await git.run(git.path("outer"), "commit", "-qam", "sub");
  await git.run(git.folder, "clone", "-q", "outer", "clone");
  const update = gate.start(git.path("clone"), "submodule", "--quiet", "update", "--init");
  await gate.reached();
  const b = await agreed(git.path("clone", "sub"));
  await neverInItsWay(b, update);
});

test("nothing is made in a worktree whose files are being checked out", async () => {
  await origin({ "0.txt": "x\n", [FILE]: TEXT });
  const folder = git.path("first");
  // A filter waits as a large checkout takes its time.
  await git.run(folder, "config", "filter.gate.smudge", `${gate.wait}; cat`);
  await git.write(join(folder, ".git", "info", "attributes"), "0.txt filter=gate\n");
  mkdirSync(git.path("b"));
  const added = gate.start(folder, "worktree", "add", "-q", "-f", git.path("b"), "main");
  await gate.reached();
  const b = await agreed(git.path("b"));
  await lookForLong(b);
  expect(b.status.note).toContain("git is at work");
  expect(isMade(b)).toBe(false);
  await gate.open();
  expect(await added.ended).toEqual(DONE);
});

test("nothing is made in a clone without files, whose checkout may come any day", async () => {
  await origin();
  await git.run(git.folder, "clone", "-q", "--no-checkout", "origin.git", "b");
  const b = await agreed(git.path("b"));
  await lookForLong(b);
  expect(isMade(b)).toBe(false);
  expect(b.status).toMatchObject({ state: "left-alone" });
  expect(b.status.note).toContain("before git has checked something out");
  await git.run(b.dir, "checkout", "-q", "main");
  await b.settle();
  expect(b.status).toMatchObject({ state: "followed" });
  expect(b.file()).toBe(TEXT);
});

test("a file that git ignores is not made in a clone that is not whole, either", async () => {
  await origin();
  const clone = gate.start(git.folder, "clone", "-q", gate.url("origin.git"), "b");
  await gate.reached();
  await appendFile(git.path("b", ".git", "info", "exclude"), `${FILE}\n`);
  const b = await machine("b");
  await exchange([author, b]);
  await b.follow();
  await neverInItsWay(b, clone);
});

test("a new repository without any commit is followed, and written once it is quiet", async () => {
  await git.run(git.folder, "init", "-q", "b");
  const b = await agreed(git.path("b"));
  expect([isMade(b), b.status.state]).toEqual([false, "waiting"]);
  await b.pass(TREE_QUIET_MS);
  await b.settle();
  expect(b.file()).toBe(TEXT);
  await b.save(`${TEXT}\nOf b.\n`);
  expect(await b.doc()).toBe(`${TEXT}\nOf b.\n`);
});

test("a clone of an empty repository is written once it is quiet", async () => {
  await git.run(git.folder, "init", "-q", "--bare", "-b", "main", "empty.git");
  await git.run(git.folder, "clone", "-q", "empty.git", "b");
  const b = await agreed(git.path("b"));
  expect(isMade(b)).toBe(false);
  await lookForLong(b);
  expect(b.file()).toBe(TEXT);
});

test("a whole clone has to be quiet before a file is made that git does not know", async () => {
  await origin({ "README.md": "x\n" });
  await git.run(git.folder, "clone", "-q", "origin.git", "b");
  const b = await agreed(git.path("b"));
  expect([isMade(b), b.status.state]).toEqual([false, "waiting"]);
  await b.pass(TREE_QUIET_MS / 2);
  await git.run(b.dir, "checkout", "-q", "-b", "other");
  await b.settle();
  await b.pass(TREE_QUIET_MS / 4);
  await b.settle();
  expect(isMade(b)).toBe(false);
  await lookForLong(b);
  expect(b.file()).toBe(TEXT);
});

test("nothing is made while a pull waits, and then what it brought is there", async () => {
  await origin({ "README.md": "x\n" });
  await git.run(git.folder, "clone", "-q", "origin.git", "b");
  await git.commit(git.path("first"), { [FILE]: TEXT });
  await git.run(git.path("first"), "push", "-q", git.path("origin.git"), "main");
  await git.run(git.path("b"), "remote", "set-url", "origin", gate.url("origin.git"));
  const pull = gate.start(git.path("b"), "pull", "-q");
  await gate.reached();
  const b = await agreed(git.path("b"));
  if (process.platform === "linux") await neverInItsWay(b, pull);
  else await gate.open();
  expect(await readFile(join(b.dir, FILE), "utf8")).toBe(TEXT);
});

test("a lock that a git left behind keeps a file from being made", async () => {
  await git.repository("b", { "README.md": "x\n" });
  const lock = git.path("b", ".git", "packed-refs.lock");
  await git.write(lock, "");
  const b = await agreed(git.path("b"));
  await lookForLong(b);
  // Nobody can tell when that ends, so nothing waits for it.
  expect(b.status).toMatchObject({ state: "left-alone" });
  expect(b.status.note).toContain("git is at work");
  expect(isMade(b)).toBe(false);
  await rm(lock);
  await lookForLong(b);
  expect(b.file()).toBe(TEXT);
});
