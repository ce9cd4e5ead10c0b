import { expect } from "bun:test";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

scenario("a memory that the daemon saved is deleted and overwritten without it", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("overlay"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  for (const key of ["kept", "changed", "deleted"]) await a.memsync("set", key, "by the daemon");
  await a.untilSynced();
  await a.down();
  await a.memsync("set", "changed", "without it");
  await a.memsync("rm", "deleted");
  expect((await a.list()).map(({ key, saved }) => [key, saved])).toEqual([
    ["kept", "replica"],
    ["changed", "inbox"],
  ]);
  expect((await a.run(["rm", "deleted"])).status).toBe(1);
  await a.up();
  await waitFor("b to have what a wrote without its daemon", async () => {
    const listed = Object.fromEntries((await b.list()).map((each) => [each.key, each.value]));
    return Bun.deepEquals(listed, { kept: "by the daemon", changed: "without it" });
  });
});

scenario("the layers are separate, and get looks in project, user and global", async (lab) => {
  const [machine] = await lab.twoMachines(emulator.account("layers"), { "README.md": "" });
  await machine.up();
  await machine.down();
  for (const up of [false, true]) {
    if (up) await machine.up();
    await machine.memsync("set", "key", "of all", "--layer", "global");
    await machine.memsync("set", "key", "of the user", "--layer", "user");
    expect(await machine.memsync("get", "key")).toBe("of the user");
    await machine.memsync("set", "key", "of the project");
    expect(await machine.memsync("get", "key")).toBe("of the project");
    expect(await machine.memsync("get", "key", "--layer", "global")).toBe("of all");
    await machine.memsync("rm", "key");
    await machine.memsync("rm", "key", "--layer", "user");
    expect(await machine.memsync("get", "key")).toBe("of all");
    await machine.memsync("rm", "key", "--layer", "global");
    expect((await machine.run(["get", "key"])).status).toBe(1);
  }
});
