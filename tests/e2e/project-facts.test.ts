import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const MANIFEST = JSON.stringify({ dependencies: { hono: "4" } });
const SAID = { language: "JavaScript", framework: "Hono" };

async function metadataOf(machine: Machine, id: string): Promise<unknown> {
  const { metadata } = (await machine.ask("GET", `/api/projects/${id}`)) as { metadata: unknown };
  return metadata;
}

scenario(
  "what manifests say is filled in where nobody has, and what a person says stays",
  async (lab) => {
    const service = emulator.account("facts");
    const [a, b] = await lab.twoMachines(service, { "package.json": MANIFEST });
    await a.up();
    const { id } = await a.projectOf();
    await a.memsync("set", "build", "make");
    await a.sync();
    await waitFor("it is filled in", async () => Bun.deepEquals(await metadataOf(a, id), SAID));
    await a.untilSynced();
    await b.up();
    await b.sync();
    expect(await metadataOf(b, id)).toEqual(SAID);

    // One is changed and one removed, and the next start of either machine leaves both so.
    const own = { language: "JavaScript (Bun)", framework: null };
    await b.ask("POST", `/api/projects/${id}/sync`, { metadata: own });
    await b.sync();
    await a.sync();
    for (const machine of [a, b]) {
      await machine.down();
      writeFileSync(join(machine.folder, "tsconfig.json"), "{}");
      await machine.up();
      await machine.memsync("set", machine.name, "once more");
      await machine.sync();
      expect(await metadataOf(machine, id)).toEqual({ language: "JavaScript (Bun)" });
    }
  },
);

scenario("a machine whose token may only read fills in nothing", async (lab) => {
  const { url } = emulator.account("facts-readonly");
  const writer = await lab.stoppedMachine({ url, token: "mst_dev_pro" });
  const reader = lab.machine("r", writer.folder, { url, token: "mst_dev_readonly" });
  writeFileSync(join(writer.folder, "package.json"), MANIFEST);
  await reader.up();
  await reader.sync();
  const { id } = await reader.projectOf();
  expect(await metadataOf(reader, id)).toEqual({});
  expect((await reader.projectOf()).refused).toBeNull();
});
