import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PUBLISHED_ONLY } from "../support/plain-service.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator({ args: PUBLISHED_ONLY });
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

scenario("three machines that were apart meet by a plain service", async (lab) => {
  const account = emulator.account("three");
  const [folderA, folderB] = await lab.clones({ ".gitignore": FILE });
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "c");
  const folders = [folderA, folderB, lab.git.path("c")];
  const machines = ["a", "b", "c"].map((name, at) => {
    return lab.machine(name, folders[at] ?? "", account);
  });
  const [a] = machines as [Machine];
  await Promise.all(machines.map((machine) => machine.up()));
  await writeFile(`${a.folder}/${FILE}`, "# Title\n\nend\n");
  await a.memsync("set", "gone", "soon");
  await untilAllSynced(...machines);
  await Promise.all(machines.map((machine) => machine.down()));
  for (const machine of machines) {
    const text = `# Title\n\nend\n\n## Of ${machine.name}\n\nline of ${machine.name}\n`;
    await writeFile(`${machine.folder}/${FILE}`, text);
    await machine.memsync("set", `of-${machine.name}`, machine.name);
  }
  await a.memsync("rm", "gone");
  await Promise.all(machines.map((machine) => machine.up()));
  const text = await waitFor("the same everywhere", async () => {
    await untilAllSynced(...machines);
    const texts = await Promise.all(
      machines.map(({ folder }) => readFile(`${folder}/${FILE}`, "utf8")),
    );
    const memories = await Promise.all(machines.map((machine) => memoriesOf(machine)));
    const wanted = { "of-a": "a", "of-b": "b", "of-c": "c" };
    if (!memories.every((each) => Bun.deepEquals(each, wanted))) return false;
    return texts.every((each) => each === texts[0]) && texts[0];
  });
  for (const line of ["# Title", "end", "line of a", "line of b", "line of c"]) {
    expect([line, text.split("\n").filter((each) => each === line)]).toEqual([line, [line]]);
  }
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

scenario("a project of a plain service is not deleted, linked here or not", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("undeleted"));
  await machine.up();
  await machine.memsync("set", "port", "4777");
  await machine.untilSynced();
  const { id } = await machine.projectOf();
  for (const unlinks of [false, true]) {
    if (unlinks) await machine.memsync("unlink");
    const { status, stderr } = await machine.run(["project", "rm", id, "--yes"]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("knows no deletion of a project"),
    ]);
  }
  expect(await machine.list("--project", id)).toHaveLength(1);
});
