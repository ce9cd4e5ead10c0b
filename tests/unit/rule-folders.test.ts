import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGitSandbox } from "../support/git-sandbox.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { CURSOR_RULES } from "../support/rule-machines.ts";

const RULE =
  "---\ndescription: how tests are written\nglobs: **/*.test.ts\nalwaysApply: false\n" +
  "unknown: [a, b\n---\r\n- no sleeps\n@docs/tests.md";
const CONDITIONAL = '---\npaths:\n  - "src/**/*.ts"\n---\n\nNo default exports.\n';

const sandbox = createGitSandbox();
afterAll(() => sandbox.remove());

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;
beforeEach(async () => {
  a = await start("anna", CURSOR_RULES);
  b = await start("ben", CURSOR_RULES);
});

/** A rule of Claude Code. */
function claudeRule(machine: MemoryMachine, name: string): string {
  return join(machine.project, ".claude", "rules", name);
}

function saveAt(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function keys({ store }: MemoryMachine): Promise<string[]> {
  const rows = await store.reader.selectFrom("memories").select("key").orderBy("key").execute();
  return [...new Set(rows.map(({ key }) => key))];
}

async function inRepositories(gitignore: string): Promise<void> {
  for (const { project, folder } of [a, b]) {
    rmSync(project, { recursive: true });
    await sandbox.run(folder, "init", "-q", "-b", "main", project);
    writeFileSync(join(project, ".gitignore"), gitignore);
    await sandbox.run(project, "add", "-A");
    await sandbox.run(project, "commit", "-q", "-m", "first");
  }
}

test("a rule that is a hard link to a file that stays here stays here, too", async () => {
  const own = join(a.project, "CLAUDE.local.md");
  saveAt(own, "private\n");
  saveAt(claudeRule(a, "open.md"), "open\n");
  linkSync(own, claudeRule(a, "hard.md"));
  await settleMemories(a, b);
  expect(await keys(b)).toEqual(["rules/claude/open.md"]);
});

test("rules are on the other machine byte for byte, each for its own assistant", async () => {
  a.save("tests.mdc", RULE);
  a.save("web/pages.mdc", RULE);
  a.save("readme.md", "Cursor does not read it\n");
  saveAt(claudeRule(a, "api/style.md"), CONDITIONAL);
  saveAt(claudeRule(a, "notes.mdc"), "Claude Code does not read it\n");
  await settleMemories(a, b);
  expect(await keys(b)).toEqual([
    "rules/claude/api/style.md",
    "rules/cursor/tests.mdc",
    "rules/cursor/web/pages.mdc",
  ]);
  expect(b.files()).toEqual(["tests.mdc", "web/pages.mdc"]);
  expect(b.read("tests.mdc")).toBe(RULE);
  expect(readFileSync(claudeRule(b, "api/style.md"), "utf8")).toBe(CONDITIONAL);
  expect(existsSync(join(b.project, "CLAUDE.md"))).toBe(false);
});

test("imported rules never leave the machine, and none is put beside them", async () => {
  a.save("imported/team.mdc", "of the team's server\n");
  a.save("own.mdc", RULE);
  await a.writeMemory("rules/cursor/imported/theirs.mdc", "of somebody\n");
  await settleMemories(a, b);
  expect(await b.values("imported/team.mdc")).toEqual([]);
  expect(a.files()).toEqual(["imported/team.mdc", "own.mdc"]);
  expect(b.files()).toEqual(["own.mdc"]);
});

test("what .memsyncignore names by its path in the project stays on this machine", async () => {
  writeFileSync(join(a.project, ".memsyncignore"), ".cursor/rules/mine.mdc\n.claude/rules/\n");
  a.save("mine.mdc", "mine\n");
  a.save("ours.mdc", RULE);
  saveAt(claudeRule(a, "mine.md"), "mine\n");
  await settleMemories(a, b);
  expect(await keys(b)).toEqual(["rules/cursor/ours.mdc"]);
});

test("rules that git ignores are written; what it would show waits for a yes", async () => {
  await inRepositories(".cursor/\n");
  a.save("ignored.mdc", RULE);
  saveAt(claudeRule(a, "shown.md"), CONDITIONAL);
  await settleMemories(a, b);
  expect(b.read("ignored.mdc")).toBe(RULE);
  expect(existsSync(claudeRule(b, "shown.md"))).toBe(false);
  const said = b.keeper.status.flatMap(({ notes }) => notes.map(({ why }) => why.code));
  expect(said).toEqual(["memory-unasked"]);
  expect(await sandbox.run(b.project, "status", "--porcelain")).toBe("");
  b.links = b.links.map((link) => ({ ...link, write: true }));
  await settleMemories(a, b);
  b.world.advance(11_000);
  await settleMemories(a, b);
  expect(readFileSync(claudeRule(b, "shown.md"), "utf8")).toBe(CONDITIONAL);
});

test("forty tracked rules cost a few processes of git, and none while nothing changes", async () => {
  await inRepositories("");
  for (let at = 0; at < 40; at++) a.save(`r${at}.mdc`, `${RULE}${at}\n`);
  await sandbox.run(a.project, "add", "-A");
  await sandbox.run(a.project, "commit", "-q", "-m", "rules");
  const runs = a.gitRuns;
  await a.look();
  expect(await a.values("r39.mdc")).toHaveLength(1);
  expect(runs.count).toBeLessThan(25);
  await a.look();
  const before = runs.count;
  await a.look();
  expect(runs.count).toBe(before);
});

test("a rule that was changed on two machines keeps both changes or both texts", async () => {
  a.save("tests.mdc", RULE);
  await settleMemories(a, b);
  a.save("tests.mdc", RULE.replace("no sleeps", "no sleeps, no mocks"));
  b.save("tests.mdc", RULE.replace("no sleeps", "no waits"));
  await settleMemories(a, b);
  const values = await a.values("tests.mdc");
  expect(values).toHaveLength(2);
  expect(a.read("tests.mdc")).toBe(values[0] ?? "");
  expect(b.read("tests.mdc")).toBe(values[0] ?? "");
});

test("a rule that is saved over others' change of a moment ago is a conflict with it", async () => {
  a.save("tests.mdc", "one\ntwo\n");
  await settleMemories(a, b);
  b.save("tests.mdc", "one\n");
  await b.look();
  await exchangeKept(a, b);
  await a.keeper.look();
  a.save("tests.mdc", "one\ntwo\nthree\n");
  await settleMemories(a, b);
  expect(await b.values("tests.mdc")).toEqual(["one\ntwo\nthree\n", "one\n"]);
});

test("CRLF that an attribute of git makes in rules are nobody's edit, those of others are", async () => {
  await sandbox.run(a.folder, "init", "-q", "-b", "main", a.project);
  a.save("tests.mdc", "- one\n- two\n");
  saveAt(join(a.project, ".gitattributes"), ".cursor/rules/** text eol=crlf\n");
  await sandbox.run(a.project, "add", "-A");
  await sandbox.run(a.project, "commit", "-q", "-m", "rules");
  rmSync(b.project, { recursive: true });
  await sandbox.run(b.folder, "clone", "-q", a.project, b.project);
  await settleMemories(a, b);
  expect(b.read("tests.mdc")).toBe("- one\r\n- two\r\n");
  expect(new Set(await b.values("tests.mdc"))).toEqual(new Set(["- one\n- two\n"]));
  b.save("tests.mdc", "- one\r\n- two\r\n- three\r\n");
  b.save("own.mdc", "- of an editor\r\n");
  await settleMemories(a, b);
  expect(await a.values("tests.mdc")).toEqual(["- one\n- two\n- three\n"]);
  expect(await a.values("own.mdc")).toEqual(["- of an editor\r\n"]);
});

test("what is left of a longer rule under a shorter one is nobody's, also where git makes the line endings", async () => {
  await sandbox.run(a.folder, "init", "-q", "-b", "main", a.project);
  a.save("tests.mdc", "- one\n- two\n- three, a typo\n");
  saveAt(join(a.project, ".gitattributes"), ".cursor/rules/** text eol=crlf\n");
  await sandbox.run(a.project, "add", "-A");
  await sandbox.run(a.project, "commit", "-q", "-m", "rules");
  rmSync(b.project, { recursive: true });
  await sandbox.run(b.folder, "clone", "-q", a.project, b.project);
  await settleMemories(a, b);
  const [first = "", next] = [b.read("tests.mdc"), "- one\r\n- two\r\n- three\r\n"];
  const before = await b.values("tests.mdc");
  b.save("tests.mdc", next + first.slice(next.length));
  expect(b.read("tests.mdc")).toBe(`${next}a typo\r\n`);
  // Of a tracked file a look takes what stood there at the one before.
  for (let looks = 0; looks < 3; looks++) {
    await b.keeper.look();
    b.world.advance(1000);
  }
  expect(await b.values("tests.mdc")).toEqual(before);
  b.save("tests.mdc", next);
  await settleMemories(a, b);
  expect(await a.values("tests.mdc")).toEqual(["- one\n- two\n- three\n"]);
});
