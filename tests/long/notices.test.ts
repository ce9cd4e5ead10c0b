import { expect } from "bun:test";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

/** What a command says beside what was asked for. */
async function asideOf(machine: Machine, ...args: readonly string[]): Promise<string> {
  const { status, stderr } = await machine.run(args);
  expect([args, status]).toEqual([args, 0]);
  return stderr;
}

/** A project whose memory `deploy` both machines have written at once. */
async function disagree(lab: Lab, account: string): Promise<readonly [Machine, Machine]> {
  const machines = await lab.twoMachines(emulator.account(account), { "README.md": "" });
  for (const each of machines) {
    await each.up();
    await each.sync();
    await each.down();
    await each.memsync("set", "deploy", `as on ${each.name}`);
  }
  for (const each of machines) await each.up();
  for (const each of [...machines, ...machines]) await each.sync();
  return machines;
}

const CONFLICT = /^memsync: 1 new conflict, deploy in \S+: `memsync conflicts` shows it\n$/;

scenario("a new conflict is told by every command until `conflicts` was shown", async (lab) => {
  const [a, b] = await disagree(lab, "disagree");
  await waitFor("the notice", async () => (await asideOf(a, "list")) !== "");
  for (const args of [["list"], ["get", "deploy"], ["projects"]]) {
    expect(await asideOf(a, ...args)).toMatch(CONFLICT);
  }
  // It counts them itself.
  expect(await asideOf(a, "status")).toBe("");
  expect((await a.run(["get", "nothing"])).stderr).toMatch(/no memory [\s\S]*1 new conflict/);
  expect(await asideOf(a, "list", "--json")).toBe("");
  await a.memsync("conflicts", "--json");
  await a.down();
  expect(await asideOf(a, "list")).toMatch(CONFLICT);
  const shown = await Promise.all([1, 2, 3].map(() => asideOf(a, "conflicts")));
  expect(shown).toEqual(["", "", ""]);
  expect(await asideOf(a, "list")).toBe("");
  await a.up();
  await a.sync();
  expect(await asideOf(a, "list")).toBe("");
  await waitFor("the other machine's own notice", async () => {
    return CONFLICT.test(await asideOf(b, "list"));
  });
  const [conflict] = JSON.parse(await b.memsync("conflicts", "--json")) as { id: string }[];
  await b.memsync("conflicts", "dismiss", conflict?.id ?? "");
  await waitFor("what is settled to be told no more", async () => {
    return (await asideOf(b, "list")) === "";
  });
});

scenario("what is held is told until `held` was shown, unless a command said so", async (lab) => {
  const secret = PLANTED.github;
  const folder = await lab.git.repository("a", { ".gitignore": "CLAUDE.md" });
  const machine = lab.machine("a", folder, emulator.account("held"));
  await machine.up();
  expect(await asideOf(machine, "set", "deploy", secret)).toMatch(/^held: /);
  await machine.sync();
  expect(await asideOf(machine, "list")).toBe("");
  await lab.git.write(join(folder, "CLAUDE.md"), `# Deploy\n\n${secret}\n`);
  await waitFor("the notice", async () => (await asideOf(machine, "list")) !== "");
  expect(await asideOf(machine, "projects")).toMatch(
    /^memsync: held on this machine, file in \S+ in a: `memsync held` says why\n$/,
  );
  expect(await asideOf(machine, "held")).toBe("");
  expect(await asideOf(machine, "list")).toBe("");
});
