import { afterAll, afterEach, beforeEach } from "bun:test";
import { createGitSandbox } from "../support/git-sandbox.ts";
import { MemoryMachine } from "../support/memory-machines.ts";
import { testWith } from "../support/needs.ts";
import { HAS_REAL_DATA, memoryCommits } from "../support/real-data.ts";
import { replayCommits, replayMemories } from "../support/replay-memories.ts";
import { SERENA } from "../support/serena-machines.ts";

const sandbox = createGitSandbox();
afterAll(() => sandbox.remove());

let machines: [MemoryMachine, MemoryMachine];
beforeEach(async () => {
  const [anna, ben] = ["anna", "ben"].map((name) => MemoryMachine.start(name, SERENA));
  if (anna && ben) machines = await Promise.all([anna, ben]);
});
afterEach(async () => {
  for (const machine of machines) await machine.remove();
});

const REAL_HISTORY = {
  isMet: HAS_REAL_DATA,
  missing: "no real histories lie beside this checkout",
};
const TIMEOUT_MS = 600_000;

testWith(
  REAL_HISTORY,
  "Serena's memories of a real project are on the other machine byte for byte",
  async () => await replayMemories(machines, memoryCommits("real")),
  TIMEOUT_MS,
);

testWith(
  REAL_HISTORY,
  "the same, commit by commit, are pulled without a deletion or a question",
  async () => await replayCommits(sandbox, machines, memoryCommits("real")),
  TIMEOUT_MS,
);
