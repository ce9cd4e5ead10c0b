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
    const elsewhere = await machine.run(["rm", "key"]);
    expect([elsewhere.status, elsewhere.stderr.replaceAll(/\s+/g, " ")]).toEqual([
      1,
      expect.stringContaining(
        'there is no memory "key" in project: it is in user and global; ' +
          "`memsync rm key --layer user` deletes it",
      ),
    ]);
    await machine.memsync("rm", "key", "--layer", "user");
    expect(await machine.memsync("get", "key")).toBe("of all");
    await machine.memsync("rm", "key", "--layer", "global");
    expect((await machine.run(["get", "key"])).status).toBe(1);
  }
});

scenario("a memory is moved to another layer, with the daemon and without it", async (lab) => {
  const account = emulator.account("moved");
  const [a, b] = await lab.twoMachines(account, { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  await a.memsync("set", "editor", "vim");
  await a.memsync("set", "shell", "fish");
  await a.untilSynced();
  expect(await a.memsync("move", "editor", "--layer", "user")).toContain("from project to user");
  await a.down();
  const moved = await a.memsync("move", "shell", "--layer", "user", "--json");
  expect(JSON.parse(moved)).toEqual({ key: "shell", from: "project", layer: "user" });
  const isMoved = (listed: readonly { key: string; layer: string; value: string }[]) =>
    Bun.deepEquals(
      listed.map(({ key, layer, value }) => [key, layer, value]),
      [
        ["editor", "user", "vim"],
        ["shell", "user", "fish"],
      ],
    );
  expect(isMoved(await a.list())).toBe(true);
  await a.up();
  await waitFor("the other machine to have both there", async () => isMoved(await b.list()));
  expect(await b.memsync("move", "shell", "--layer", "project")).toContain("from user to project");
  expect((await b.list()).map(({ key, layer }) => [key, layer])).toEqual([
    ["shell", "project"],
    ["editor", "user"],
  ]);
});

scenario("a move that would lose something is refused, and changes nothing", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("unmoved"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  await a.memsync("set", "disputed", "first");
  await Promise.all([
    a.untilSynced(),
    waitFor("b to have it", async () => (await b.list()).length),
  ]);
  await Promise.all([a.down(), b.down()]);
  await a.memsync("set", "disputed", "of a");
  await b.memsync("set", "disputed", "of b");
  await a.memsync("set", "taken", "of the project");
  await a.memsync("set", "taken", "of the user", "--layer", "user");
  await a.memsync("set", "password", "password: hunter2-Vq8zL0pX");
  await a.memsync("set", "twice", "of the project");
  await a.memsync("set", "twice", "of all", "--layer", "global");
  await a.up();
  await b.up();
  await waitFor("the conflict", async () => (await a.memsync("conflicts")).includes("disputed"));
  for (const up of [true, false]) {
    if (!up) await a.down();
    const before = await a.list();
    for (const [words, status, said] of [
      [["taken", "--layer", "user"], 1, 'user has a "taken" of its own'],
      [["disputed", "--layer", "user"], 1, "memsync conflicts"],
      [["password", "--layer", "user"], 1, "memsync held"],
      [["twice", "--layer", "user"], 1, "--from"],
      [["nothing", "--layer", "user"], 1, 'no memory "nothing"'],
      [["taken", "--layer", "project", "--from", "project"], 2, "--from"],
      [["taken", "--layer", "nowhere"], 2, "--layer is"],
      [["taken"], 2, "--layer"],
    ] as const) {
      const ran = await a.run(["move", ...words]);
      expect([words, ran.status, ran.stderr]).toEqual([
        words,
        status,
        expect.stringContaining(said),
      ]);
    }
    expect(await a.list()).toEqual(before);
  }
  await a.memsync("move", "twice", "--layer", "user", "--from", "global");
  expect(await a.memsync("get", "twice", "--layer", "user")).toBe("of all");
});
