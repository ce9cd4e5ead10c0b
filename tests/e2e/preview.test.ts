import { expect } from "bun:test";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

interface Previewed {
  layer: string;
  project_id: string | null;
  service: string | null;
  waiting: number;
  held: number;
  memories: { added: string[]; changed: string[]; deleted: string[] } | null;
  document: { lines_added: number; lines_removed: number } | null;
}

async function previewed(machine: Machine, id: string): Promise<Previewed | undefined> {
  const all = JSON.parse(await machine.memsync("preview", "--json")) as Previewed[];
  return all.find(({ project_id }) => project_id === id);
}

scenario("a preview says what would be sent, with a daemon and without", async (lab) => {
  const service = emulator.account("preview");
  const network = await lab.network(service);
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, network);
  expect(await machine.memsync("preview")).toBe("nothing waits to be sent\n");
  await machine.up();
  const { id } = await machine.projectOf();
  for (const key of ["kept", "changed", "deleted"]) await machine.memsync("set", key, "before");
  await machine.untilSynced();
  const none = { added: [], changed: [], deleted: [] };
  expect(await previewed(machine, id)).toMatchObject({ waiting: 0, memories: none });
  expect(await machine.memsync("preview")).toBe("nothing waits to be sent\n");

  network.cut();
  await machine.memsync("set", "changed", "after");
  await machine.memsync("rm", "deleted");
  await machine.memsync("set", "new", "x");
  await machine.ask("POST", `/api/projects/${id}/sync`, { claude_md_content: "one\ntwo\n" });
  await machine.memsync("set", "deploy", PLANTED.github);
  const expected = {
    service: network.url,
    held: 1,
    memories: { added: ["new"], changed: ["changed"], deleted: ["deleted"] },
    document: { lines_added: 2, lines_removed: 0 },
  };
  expect(await previewed(machine, id)).toMatchObject(expected);
  const said = await machine.memsync("preview");
  for (const words of ["1 memory new: new", "1 memory deleted: deleted", "+2 -0 lines", "1 held"]) {
    expect(said).toContain(words);
  }
  await machine.down();
  await machine.memsync("set", "later", "while no daemon ran");
  await machine.memsync("set", "changed", "before");
  expect(await previewed(machine, id)).toMatchObject({
    memories: { added: ["new", "later"], changed: [], deleted: ["deleted"] },
  });
});

scenario("with a read-only token a preview leaves out what came from the service", async (lab) => {
  const { url } = emulator.account("pro");
  const files = { "README.md": "" };
  const [writer, reader] = await lab.twoMachines({ url, token: "mst_dev_pro" }, files);
  await writer.up();
  for (const key of ["one", "two"]) await writer.memsync("set", key, "theirs");
  await writer.untilSynced();
  // Something is here before the first contact, so that nothing is ever acknowledged.
  const network = await lab.network({ url, token: "mst_dev_readonly" });
  network.cut();
  reader.service = network;
  await reader.up();
  await reader.memsync("set", "mine", "x");
  network.restore();
  const { id } = await reader.projectOf();
  await waitFor("the others' memories", async () => (await reader.list()).length === 3);
  expect(await previewed(reader, id)).toMatchObject({
    memories: { added: ["mine"], changed: [], deleted: [] },
    document: { lines_added: 0, lines_removed: 0 },
  });
});
