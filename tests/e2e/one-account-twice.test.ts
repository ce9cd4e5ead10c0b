import { expect } from "bun:test";
import { cpSync, mkdirSync } from "node:fs";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { login, project, type ServiceFolder, service } from "../support/two-services.ts";
import { waitFor } from "../support/wait-for.ts";

const REMOTES = ["first", "second"] as const;
const LAYERS = ["user", "global"] as const;

/** The memories of a layer as a remote of this machine has them, by key. */
async function seen(machine: Machine, layer: string, remote: string) {
  const listed = await machine.list("--layer", layer, "--remote", remote);
  return Object.fromEntries(listed.map(({ key, value }) => [key, value]));
}

async function save(machine: Machine, remote: string, layer: string, key: string) {
  await machine.memsync("set", "--layer", layer, "--remote", remote, "--yes", key, `of ${remote}`);
}

/** A machine that has one account under two names. */
async function twice(lab: Lab, a: ServiceFolder): Promise<Machine> {
  const machine = lab.machine("me", await project(lab, "pa"));
  for (const name of REMOTES) await login(machine, a, "--remote", name);
  await machine.up();
  return machine;
}

/** Waits until both remotes and another machine of the account have all that was written. */
async function expectEverywhere(machines: readonly Machine[], count: number): Promise<void> {
  const views = machines.flatMap((machine) =>
    LAYERS.flatMap((layer) => REMOTES.map((remote) => ({ machine, layer, remote }))),
  );
  for (const layer of LAYERS) {
    const ofLayer = views.filter((view) => view.layer === layer);
    // A key that both have written is there before the two values have met.
    await waitFor(`${layer} to be the same ${count} everywhere`, async () => {
      for (const machine of machines) await machine.syncOnce();
      const all = await Promise.all(ofLayer.map((each) => seen(each.machine, layer, each.remote)));
      const [first = {}] = all;
      return Object.keys(first).length === count && all.every((one) => Bun.deepEquals(one, first));
    });
  }
  for (const machine of machines) await machine.sync();
}

scenario("two remotes of one account both send and receive all of it", async (lab) => {
  const a = await service(lab, "a");
  const machine = await twice(lab, a);
  let written = 0;
  const writeAll = async (name: string, remotes: readonly string[]) => {
    for (const remote of remotes) {
      for (const layer of LAYERS) await save(machine, remote, layer, `${name}-${remote}`);
      written += 1;
    }
  };
  // The second has nothing yet, so that it is first used by this.
  await writeAll("one", REMOTES);
  await machine.sync();
  await expectEverywhere([machine], written);
  await writeAll("two", [...REMOTES].reverse());
  await writeAll("three", REMOTES);
  await machine.down("SIGKILL");
  await machine.up();
  await writeAll("four", ["second"]);
  await expectEverywhere([machine], written);
  await machine.down();
  await writeAll("five", REMOTES);
  await machine.up();
  await writeAll("six", REMOTES);
  await expectEverywhere([machine], written);
});

scenario("a home that was copied to a second machine writes beside the first", async (lab) => {
  const a = await service(lab, "a");
  const machine = await twice(lab, a);
  for (const remote of REMOTES) for (const layer of LAYERS) await save(machine, remote, layer, "k");
  await save(machine, "first", "user", "only-first");
  await machine.down("SIGKILL");
  const copy = lab.machine("copy", await project(lab, "pb"));
  mkdirSync(copy.home, { recursive: true });
  cpSync(machine.home, copy.home, {
    recursive: true,
    filter: (path) => !path.endsWith("daemon.sock"),
  });
  // A token stays with the machine that it was given to.
  for (const remote of REMOTES) {
    const stdin = `mst_dev_${machine.name}\n`;
    await copy.memsyncWith({ stdin }, "login", "--token-stdin", "--remote", remote);
  }
  await Promise.all([machine.up(), copy.up()]);
  for (const layer of LAYERS) {
    await save(machine, "first", layer, "at-first");
    await save(copy, "first", layer, "at-copy");
    await save(copy, "second", layer, "at-copy-second");
  }
  await save(machine, "second", "global", "global-too");
  await expectEverywhere([machine, copy], 5);
  // Values that both wrote at once are one memory, whose versions agree.
  expect(await seen(copy, "user", "first")).toMatchObject({ "at-first": "of first" });
});
