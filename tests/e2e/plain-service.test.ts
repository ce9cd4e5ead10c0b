import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PUBLISHED_ONLY } from "../support/plain-service.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator(PUBLISHED_ONLY);
const FILE = "CLAUDE.md";

/** Keys and values of the project, as `list` shows them. */
async function memoriesOf(machine: Machine, layer = "project"): Promise<Record<string, string>> {
  const listed = await machine.list("--layer", layer);
  return Object.fromEntries(listed.map(({ key, value }) => [key, value]));
}

/** Every machine has sent what it had, and heard of what the others sent. */
async function untilAllSynced(...machines: readonly Machine[]): Promise<void> {
  for (const machine of machines) await machine.untilSynced();
  for (const machine of machines) await machine.untilSynced();
}

scenario("memories, edits and deletions reach the others by a plain service", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("memories"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  await a.memsync("set", "port", "4777");
  await a.memsync("set", "style", "tabs");
  await untilAllSynced(a, b);
  expect(await memoriesOf(b)).toEqual({ port: "4777", style: "tabs" });
  await b.memsync("set", "port", "4778");
  await b.memsync("rm", "style");
  await untilAllSynced(b, a);
  expect(await memoriesOf(a)).toEqual({ port: "4778" });
  expect((await a.status()).service.plain).toBe(true);
  expect((await a.status()).service.live).toBe(false);
});

scenario("texts that two machines changed offline are merged by a plain service", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("texts"), { ".gitignore": FILE });
  await Promise.all([a.up(), b.up()]);
  await writeFile(`${a.folder}/${FILE}`, "# Title\n\nfirst\n\nlast\n");
  await untilAllSynced(a, b);
  expect(await readFile(`${b.folder}/${FILE}`, "utf8")).toBe("# Title\n\nfirst\n\nlast\n");
  await Promise.all([a.down(), b.down()]);
  await writeFile(`${a.folder}/${FILE}`, "# Title\n\nfirst, by a\n\nlast\n");
  await writeFile(`${b.folder}/${FILE}`, "# Title\n\nfirst\n\nlast\n\nmore, by b\n");
  await Promise.all([a.up(), b.up()]);
  await waitFor("both files to have both changes", async () => {
    await untilAllSynced(a, b);
    const texts = await Promise.all(
      [a, b].map(({ folder }) => readFile(`${folder}/${FILE}`, "utf8")),
    );
    return texts.every((text) => text === "# Title\n\nfirst, by a\n\nlast\n\nmore, by b\n");
  });
});

scenario("memories of the user and the account go without their keys", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("own"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  await a.memsync("set", "style", "tabs", "--layer", "user");
  await a.memsync("set", "team", "small", "--layer", "global");
  await untilAllSynced(a, b);
  expect(await memoriesOf(a, "user")).toEqual({ style: "tabs" });
  const [[id = "", value] = []] = Object.entries(await memoriesOf(b, "user"));
  expect(id).toStartWith("mem_");
  expect(value).toBe("tabs");
  expect(Object.values(await memoriesOf(b, "global"))).toEqual(["small"]);
  await b.memsync("set", id, "spaces", "--layer", "user");
  await untilAllSynced(b, a, b);
  expect(Object.values(await memoriesOf(a, "user"))).toEqual(["spaces"]);
  expect(await memoriesOf(b, "user")).toEqual({ [id]: "spaces" });
  await b.memsync("rm", id, "--layer", "user");
  await untilAllSynced(b, a);
  expect(await memoriesOf(a, "user")).toEqual({});
});
