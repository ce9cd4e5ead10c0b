import { afterAll, beforeEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listHeld } from "../../daemon/home/held-store.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { SERENA } from "../support/serena-machines.ts";

const SECRET = `The token is ${PLANTED.github}\n`;
const BEFORE = "# core\n\none\ntwo\nthree\n";
const MENDED = `${BEFORE}of both\n`;

const sandbox = createGitSandbox();
afterAll(() => sandbox.remove());

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;
/** A repository with a memory, and a clone of it on the other machine. */
beforeEach(async () => {
  a = await start("anna", SERENA);
  b = await start("ben", SERENA);
  await git(a, "init", "-q", "-b", "main");
  await saveAndCommit(BEFORE);
  rmSync(b.project, { recursive: true });
  await sandbox.run(b.folder, "clone", "-q", a.project, b.project);
  for (const machine of [a, b]) {
    machine.links = machine.links.map((link) => ({ ...link, write: true }));
  }
  await settleMemories(a, b);
});

function git(machine: MemoryMachine, ...args: readonly string[]): Promise<string> {
  return sandbox.run(machine.project, ...args);
}

async function saveAndCommit(text: string): Promise<void> {
  a.save("core.md", text);
  await git(a, "add", "-A");
  await git(a, "commit", "-q", "-m", "a memory");
}

test("a commit that takes out the secret of the one before is an edit of what was before both", async () => {
  // A colleague without memsync.
  const folder = join(a.folder, "other");
  await sandbox.run(a.folder, "clone", "-q", a.project, folder);
  const put = async (text: string) => {
    writeFileSync(join(folder, ".serena", "memories", "core.md"), text);
    await sandbox.run(folder, "commit", "-q", "-a", "-m", "a memory");
  };
  const pull = (machine: MemoryMachine) => git(machine, "pull", "-q", "--ff-only", folder, "main");
  await put(`${MENDED}${SECRET}`);
  await pull(a);
  await settleMemories(a, b);
  expect(new Set(await a.values("core.md"))).toEqual(new Set([BEFORE]));
  await put(MENDED);
  for (const machine of [a, b]) await pull(machine);
  await settleMemories(a, b);
  for (const machine of [a, b]) {
    expect(new Set(await machine.values("core.md"))).toEqual(new Set([MENDED]));
    expect(machine.read("core.md")).toBe(MENDED);
    expect(await git(machine, "status", "--short")).toBe("");
    // The line with the secret is gone as a whole, so what was held stays to be looked at.
    const held = await listHeld(machine.store.reader);
    expect(held.filter(({ shown }) => shown)).toEqual([]);
    expect(held).toHaveLength(machine === a ? 1 : 0);
  }
});

test("what others wrote while a commit was held is merged with the next commit", async () => {
  await saveAndCommit(`${MENDED}${SECRET}`);
  await settleMemories(a, b);
  b.save("core.md", BEFORE.replace("one", "ONE"));
  await settleMemories(a, b);
  // Held again, beside the commit.
  a.save("core.md", `${MENDED}more\n${SECRET}`);
  await settleMemories(a, b);
  await saveAndCommit(MENDED);
  await settleMemories(a, b);
  const merged = MENDED.replace("one", "ONE");
  for (const machine of [a, b]) {
    expect(await machine.values("core.md")).toEqual([merged]);
    expect(machine.read("core.md")).toBe(merged);
  }
});

test("a memory whose first commit was held is not merged over what others wrote of that name", async () => {
  a.save("new.md", `of a\n${SECRET}`);
  await git(a, "add", "-A");
  await git(a, "commit", "-q", "-m", "a new one");
  await settleMemories(a, b);
  b.save("new.md", "of b\n");
  await settleMemories(a, b);
  a.save("new.md", "of a\n");
  await git(a, "commit", "-q", "-a", "-m", "without it");
  await settleMemories(a, b);
  expect(new Set(await a.values("new.md"))).toEqual(new Set(["of a\n", "of b\n"]));
});
