import { expect } from "bun:test";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { ListedMemory, Machine } from "../support/machine.ts";
import { type MemoryChange, memoryChanges } from "../support/real-data.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator({ worksLong: true });
const changes = memoryChanges();

async function make(machine: Machine, change: MemoryChange): Promise<void> {
  if (change.op === "delete") await machine.memsync("rm", change.key);
  else await machine.memsyncWith({ stdin: change.value }, "set", change.key, "-");
}

/** What is left of the changes when all were made. */
function resultOf(made: readonly MemoryChange[]): Record<string, string> {
  const values = new Map<string, string>();
  for (const change of made) {
    if (change.op === "set") values.set(change.key, change.value);
    else values.delete(change.key);
  }
  return Object.fromEntries([...values].sort());
}

function valuesOf(memories: readonly ListedMemory[]): Record<string, string> {
  return Object.fromEntries(memories.map(({ key, value }) => [key, value]).sort());
}

async function untilBothHold(machines: readonly Machine[], wanted: Record<string, string>) {
  for (const machine of machines) {
    await waitFor(`${machine.name} to hold the memories`, async () => {
      return Bun.deepEquals(valuesOf(await machine.list()), wanted);
    });
  }
}

scenario("memories replayed with their deletions end the same on both machines", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("memories"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  expect(changes.some(({ op }) => op === "delete")).toBe(true);
  for (const change of changes) await make(a, change);
  await untilBothHold([a, b], resultOf(changes));
});

scenario("a replay that changes machines midway goes on where it was", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("relay"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  const half = Math.floor(changes.length / 2);
  for (const change of changes.slice(0, half)) await make(a, change);
  await untilBothHold([a, b], resultOf(changes.slice(0, half)));
  for (const change of changes.slice(half)) await make(b, change);
  await untilBothHold([a, b], resultOf(changes));
});

scenario(
  "memories of the user layer reach every project, the project's own do not",
  async (lab) => {
    const [folderA, folderB] = await lab.clones({ "README.md": "" });
    const account = emulator.account("layers");
    const a = lab.machine("a", folderA, account);
    const b = lab.machine("b", await lab.git.repository("another", { "README.md": "2" }), account);
    const c = lab.machine("c", folderB, account);
    await Promise.all([a.up(), b.up(), c.up()]);
    await a.memsync("set", "mine", "of the user", "--layer", "user");
    await a.memsync("set", "ours", "of the account", "--layer", "global");
    await a.memsync("set", "here", "of the project");
    const own = { mine: "of the user", ours: "of the account" };
    await untilBothHold([a, c], { ...own, here: "of the project" });
    await untilBothHold([b], own);
    await b.memsync("rm", "mine", "--layer", "user");
    await untilBothHold([a, c], { here: "of the project", ours: "of the account" });
  },
);
