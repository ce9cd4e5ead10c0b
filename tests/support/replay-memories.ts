import { expect } from "bun:test";
import { rmSync } from "node:fs";
import type { GitSandbox } from "./git-sandbox.ts";
import { type MemoryMachine, settleMemories } from "./memory-machines.ts";
import type { MemoryCommit } from "./real-data.ts";

/** What each memory had last, deleted or not, and the names of those that are left. */
function ends(commits: readonly MemoryCommit[]) {
  const last = new Map<string, string>();
  const left = new Set<string>();
  for (const change of commits.flat()) {
    if (change.op === "set") last.set(change.key, change.value);
    if (change.op === "set") left.add(change.key);
    else left.delete(change.key);
  }
  return { last, left: [...left].sort() };
}

function make(machine: MemoryMachine, commit: MemoryCommit): void {
  for (const change of commit) {
    if (change.op === "set") machine.save(change.key, change.value);
    else machine.drop(change.key);
  }
}

/**
 * A project's memories are saved on one machine as they were: the other has each byte for byte.
 * What is deleted there is deleted once somebody says so, and its file stays on the other.
 */
export async function replayMemories(
  [a, b]: readonly [MemoryMachine, MemoryMachine],
  commits: readonly MemoryCommit[],
): Promise<void> {
  const { last, left } = ends(commits);
  for (const commit of commits) {
    const deleted = commit.filter(({ op }) => op === "delete");
    make(a, deleted);
    await settleMemories(a, b);
    for (const { key } of deleted) {
      expect(await b.values(key)).toHaveLength(1);
      await a.settle(key, "delete");
    }
    make(
      a,
      commit.filter(({ op }) => op === "set"),
    );
    await settleMemories(a, b);
    for (const { key } of deleted) expect(await b.values(key)).toEqual([]);
    for (const change of commit) {
      if (change.op === "set") expect(b.read(change.key)).toBe(change.value);
    }
  }
  expect(a.files()).toEqual(left);
  expect(b.files()).toEqual([...last.keys()].sort());
  for (const name of left) expect(await b.values(name)).toEqual([last.get(name) ?? ""]);
}

/**
 * The same in a repository that tracks them: each commit is pulled by the other machine, and what
 * git brings and takes away there is neither an edit nor a deletion, nor is anybody asked there.
 */
export async function replayCommits(
  git: GitSandbox,
  [a, b]: readonly [MemoryMachine, MemoryMachine],
  commits: readonly MemoryCommit[],
): Promise<void> {
  await git.run(a.project, "init", "-q", "-b", "main");
  await git.run(a.project, "commit", "-q", "--allow-empty", "-m", "first");
  rmSync(b.project, { recursive: true });
  await git.run(b.folder, "clone", "-q", a.project, b.project);
  const { last, left } = ends(commits);
  const written = new Map<string, string>();
  for (const commit of commits) {
    make(a, commit);
    await settleMemories(a, b);
    await git.run(a.project, "add", "-A");
    await git.run(a.project, "commit", "-q", "-m", "memories");
    await git.run(b.project, "pull", "-q");
    await settleMemories(a, b);
    for (const change of commit) {
      if (change.op === "set") written.set(change.key, change.value);
    }
    for (const [name, text] of written) expect((await b.values(name))[0]).toBe(text);
    expect(b.keeper.status.flatMap(({ asked }) => asked)).toEqual([]);
  }
  expect(b.files()).toEqual(left);
  for (const [name, text] of last) expect((await a.values(name))[0]).toBe(text);
}
