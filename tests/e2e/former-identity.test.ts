import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

const URL = "git@github.com:Acme/Widget.git";
/** What version 0.1.0 called its project. */
const FORMER = "proj_evywmcecdiu44jx3rs5evn5fyl";

/** A machine with a clone of the repository; nothing is linked yet. */
async function machineAt(lab: Lab, name: string, service: ServiceConfig): Promise<Machine> {
  const folder = await lab.git.repository(name, { "README.md": "" });
  await lab.git.run(folder, "remote", "add", "origin", URL);
  return lab.machine(name, folder, service);
}

/** One whose clone is linked as version 0.1.0 linked it; its daemon runs. */
async function formerMachine(lab: Lab, service: ServiceConfig): Promise<Machine> {
  const machine = await machineAt(lab, "old", service);
  await machine.memsync("start");
  await machine.memsync("link", machine.folder, "--id", FORMER);
  await machine.memsync("set", "build", "make");
  await machine.sync();
  await machine.memsync("stop");
  const database = new Database(join(machine.home, "memsync.db"));
  database.run("update link_places set evidence = 'origin', derived_id = ?", [FORMER]);
  database.close();
  await machine.memsync("start");
  return machine;
}

scenario("what is linked stays what it is, and so do other clones on the machine", async (lab) => {
  const machine = await formerMachine(lab, emulator.account("former-stays"));
  const folder = await waitFor("the repository to be looked at", () => machine.fileStatus());
  expect(folder?.repository).toBeNull();
  expect((await machine.projectOf()).id).toBe(FORMER);
  expect(await machine.memsync("link", machine.folder)).toContain(FORMER);
  const other = lab.git.path("worktree");
  await lab.git.run(machine.folder, "worktree", "add", "-q", "-b", "side", other);
  expect(await machine.memsyncWith({ cwd: other }, "get", "build")).toBe("make");
  expect(await machine.memsync("link", other)).toContain(FORMER);
  expect(JSON.parse(await machine.memsync("projects", "--json"))).toHaveLength(1);
});

scenario("another machine finds the project that its service has by that name", async (lab) => {
  const service = emulator.account("former-found");
  const old = await formerMachine(lab, service);
  const next = await machineAt(lab, "next", service);
  await next.memsync("start", next.folder);
  expect((await next.projectOf()).id).toBe(FORMER);
  await next.sync();
  expect(await next.memsync("get", "build")).toBe("make");
  await old.memsync("unlink");
  expect(await old.memsync("link")).toContain(FORMER);
});

scenario("where nobody has it, clones of any spelling are one project", async (lab) => {
  const service = emulator.account("former-none");
  const one = await machineAt(lab, "one", service);
  const other = await machineAt(lab, "other", service);
  await lab.git.run(other.folder, "remote", "set-url", "origin", "https://github.com/acme/widget");
  for (const machine of [one, other]) await machine.memsync("start", machine.folder);
  const { id } = await one.projectOf();
  expect([(await other.projectOf()).id, id === FORMER]).toEqual([id, false]);
  for (const machine of [one, other]) {
    expect((await machine.fileStatus())?.repository).toBeNull();
  }
});

scenario("a machine that could not ask is told of the project once it can", async (lab) => {
  const service = emulator.account("former-offline");
  const old = await formerMachine(lab, service);
  const network = await lab.network(service);
  network.cut();
  const next = await machineAt(lab, "next", network);
  await next.memsync("start", next.folder);
  expect((await next.projectOf()).id).not.toBe(FORMER);
  await next.memsync("set", "test", "make check");
  network.restore();
  await next.sync();
  const told = await waitFor("the status to name it", async () => {
    return (await next.fileStatus())?.repository;
  });
  expect(told).toContain(`\`memsync link --id ${FORMER}\` there joins it`);
  await next.memsync("link", "--id", FORMER, "--yes");
  await next.sync();
  expect(await next.memsync("get", "build")).toBe("make");
  await old.sync();
  await waitFor("what it wrote meanwhile", async () => {
    return (await old.run(["get", "test"])).stdout === "make check";
  });
  expect((await next.fileStatus())?.repository).toBeNull();
});
