import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

/** A machine whose project is linked and whose daemon is down. */
async function startDown(lab: Lab, account: string): Promise<Machine> {
  const [a] = await lab.twoMachines(emulator.account(account), { "README.md": "" });
  await a.up();
  await a.down();
  return a;
}

const VALUES: readonly (readonly [string, string])[] = [
  ["plain", "one line"],
  ["lines", "one\n\ntwo\r\nthree\n\n"],
  ["unicode", "ümläut 🎉 \u0085 \u2028 end"],
  ["spaces", "  \t around \t "],
  ["empty", ""],
  ["like an option", "--json"],
];

scenario("values are saved byte for byte without a daemon, and taken over by it", async (lab) => {
  const machine = await startDown(lab, "bytes");
  for (const [key, value] of VALUES) {
    await machine.memsyncWith({ stdin: value }, "set", key, "-");
    expect(await machine.memsync("get", key)).toBe(value);
  }
  expect((await machine.list()).map(({ saved }) => saved)).toEqual(VALUES.map(() => "inbox"));
  await machine.up();
  expect((await machine.list()).map(({ saved }) => saved)).toEqual(VALUES.map(() => "replica"));
  for (const [key, value] of VALUES) expect(await machine.memsync("get", key)).toBe(value);
  await machine.untilSynced();
});

scenario("get piped into set gives back the same bytes, with and without a daemon", async (lab) => {
  const machine = await startDown(lab, "pipe");
  for (const up of [false, true]) {
    if (up) await machine.up();
    for (const [key, value] of VALUES) {
      await machine.memsyncWith({ stdin: value }, "set", key, "-");
      await machine.memsyncWith({ stdin: await machine.memsync("get", key) }, "set", "copy", "-");
      expect(await machine.memsync("get", "copy")).toBe(value);
    }
  }
});

scenario("several writes of one key without a daemon end as the last one, alone", async (lab) => {
  const machine = await startDown(lab, "chain");
  for (const value of ["first", "second", "third"]) await machine.memsync("set", "key", value);
  await machine.memsync("set", "gone", "soon");
  await machine.memsync("rm", "gone");
  await machine.memsync("set", "back", "old");
  await machine.memsync("rm", "back");
  await machine.memsync("set", "back", "new");
  expect((await machine.list()).map(({ key, value }) => [key, value])).toEqual([
    ["key", "third"],
    ["back", "new"],
  ]);
  await machine.up();
  const listed = Object.fromEntries((await machine.list()).map((each) => [each.key, each.value]));
  expect(listed).toEqual({ key: "third", back: "new" });
  // A write that had not replaced the one before it would show again once this one is gone.
  await machine.memsync("rm", "key");
  await machine.memsync("rm", "back");
  expect(await machine.list()).toEqual([]);
});

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
  const machine = await startDown(lab, "layers");
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

scenario("reading in a home that was never used makes nothing", async (lab) => {
  const [folder] = await lab.clones({ "README.md": "" });
  const machine = lab.machine("new", folder);
  const { status, stderr } = await machine.run(["get", "key"]);
  expect(status).toBe(1);
  expect(stderr).toContain("is not linked");
  expect(existsSync(machine.home)).toBe(false);
});
