import { expect } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const inOneLine = (text: string) => text.replace(/\s+/g, " ");

scenario("two clones of one repository are one project without typing an id", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("clones"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  expect((await a.projectOf()).id).toBe((await b.projectOf()).id);
  expect((await a.projectOf()).name).toBe("origin");
  await a.memsync("set", "port", "4777");
  await waitFor("the memory on the other machine", async () => {
    const { status, stdout } = await b.run(["get", "port"]);
    return status === 0 && stdout === "4777";
  });
});

scenario(
  "a folder inside a repository is a project of its own, the same in each clone",
  async (lab) => {
    const [a, b] = await lab.twoMachines(emulator.account("inside"), { "web/README.md": "" });
    await Promise.all([a.up(a.folder, `${a.folder}/web`), b.up(`${b.folder}/web`)]);
    const inside = await a.projectOf(`${a.folder}/web`);
    expect(inside.id).toBe((await b.projectOf(`${b.folder}/web`)).id);
    expect(inside.id).not.toBe((await a.projectOf()).id);
  },
);

scenario("two worktrees of one repository are one project", async (lab) => {
  const folder = await lab.git.repository("main", { ".gitignore": "CLAUDE.md" });
  const other = lab.git.path("other");
  await lab.git.run(folder, "worktree", "add", "-q", "-b", "side", other);
  const machine = lab.machine("a", folder, emulator.account("worktrees"));
  await machine.up(folder, other);
  const { projects } = await machine.status();
  expect(projects.map((project) => project.folders.map(({ dir }) => dir))).toEqual([
    [folder, other],
  ]);
  await lab.git.write(`${folder}/CLAUDE.md`, "# One project\n");
  await waitFor("the other worktree's file", async () => {
    return (await Bun.file(`${other}/CLAUDE.md`).text()) === "# One project\n";
  });
  await machine.memsync("set", "key", "value");
  expect(await machine.memsyncWith({ cwd: other }, "get", "key")).toBe("value");
});

scenario("a worktree that is not linked is still the repository's project", async (lab) => {
  const folder = await lab.git.repository("main", { "README.md": "" });
  const other = lab.git.path("other");
  await lab.git.run(folder, "worktree", "add", "-q", "-b", "side", other);
  const machine = lab.machine("a", folder, emulator.account("unlinked-worktree"));
  await machine.up();
  await machine.memsyncWith({ cwd: other }, "set", "key", "value");
  expect(await machine.memsync("get", "key")).toBe("value");
});

scenario(
  "a submodule is the project of its repository, and of what is around it without one",
  async (lab) => {
    const [folder, part] = [
      await lab.git.repository("shop", {}),
      await lab.git.repository("part", {}),
    ];
    const add = ["submodule", "add", "-q", part, "vendor/part"];
    await lab.git.run(folder, "-c", "protocol.file.allow=always", ...add);
    const inside = join(folder, "vendor", "part");
    // Its `origin` is the other one, which has none itself.
    await lab.git.run(part, "remote", "add", "origin", part);
    const machine = lab.machine("a", folder, emulator.account("submodule"));
    await machine.up();
    await machine.memsync("set", "around", "shop");
    expect(await machine.memsyncWith({ cwd: inside }, "get", "around")).toBe("shop");
    await machine.memsync("link", part);
    await machine.memsyncWith({ cwd: part }, "set", "rule", "part");
    expect(await machine.memsyncWith({ cwd: inside }, "get", "rule")).toBe("part");
    expect((await machine.run(["get", "rule"])).status).toBe(1);
  },
);

scenario("a folder that git renamed is told how it has its memories again", async (lab) => {
  const files = { "packages/api/README.md": "" };
  const folder = await lab.git.repository("shop", files);
  const api = join(folder, "packages", "api");
  const backend = join(folder, "packages", "backend");
  const machine = lab.machine("a", folder, emulator.account("renamed-inside"));
  await machine.up();
  const linked = JSON.parse(await machine.memsync("link", api, "--json"));
  await machine.memsyncWith({ cwd: api }, "set", "port", "4100");
  // As a pull on another machine does: the folder goes, and another one comes.
  await lab.git.write(`${backend}/README.md`, "");
  await rm(api, { recursive: true });
  const { stderr } = await machine.run(["link", backend]);
  const again = `memsync link ${backend} --id ${linked.project_id}`;
  expect(inOneLine(stderr)).toContain(`${api} is gone, the folder of ${linked.name}`);
  expect(inOneLine(stderr)).toContain(again);
  await machine.memsync("link", backend, "--id", linked.project_id, "--yes");
  expect(await machine.memsyncWith({ cwd: backend }, "get", "port")).toBe("4100");
});

scenario("a folder without git is linked to a project by its id", async (lab) => {
  const account = emulator.account("by-id");
  await lab.git.write(lab.git.path("one/notes.txt"), "");
  await lab.git.write(lab.git.path("two/notes.txt"), "");
  const a = lab.machine("a", lab.git.path("one"), account);
  const b = lab.machine("b", lab.git.path("two"), account);
  await Promise.all([a.up(), b.up()]);
  const { id } = await a.projectOf();
  expect((await b.projectOf()).id).not.toBe(id);
  await b.memsync("set", "kept", "of b");
  const linked = JSON.parse(await b.memsync("link", "--id", id, "--yes", "--json"));
  expect(Object.keys(linked)).toEqual(["dir", "project_id", "name", "write", "remote", "deleted"]);
  expect(linked.project_id).toBe(id);
  expect((await b.projectOf()).id).toBe(id);
  await waitFor("what b brought along", async () => {
    return (await a.list()).some(({ key }) => key === "kept");
  });
});

scenario("a folder that was unlinked is not followed, and its memories stay", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("unlink"), { ".gitignore": "CLAUDE.md" });
  await Promise.all([a.up(), b.up()]);
  await a.memsync("set", "key", "value");
  await b.untilSynced();
  await b.memsync("unlink");
  expect(await b.run(["projects"])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^origin +proj_\S+ +linked nowhere here\n$/),
    stderr: expect.stringContaining("no project is followed yet"),
  });
  await lab.git.write(`${a.folder}/CLAUDE.md`, "# Text\n");
  await a.untilSynced();
  await b.memsync("link");
  await waitFor("the file after linking again", async () => {
    return (await Bun.file(`${b.folder}/CLAUDE.md`).text()) === "# Text\n";
  });
  expect(await b.memsync("get", "key")).toBe("value");
});

scenario("unlinking a folder of no repository says how its memories are had again", async (lab) => {
  const dir = lab.git.path("plain");
  await mkdir(dir);
  const machine = lab.machine("a", dir);
  await machine.up();
  await machine.memsync("set", "key", "value");
  const said = (await machine.memsync("unlink")).replaceAll("\n", " ");
  const [, again = ""] = /`memsync (link \S+ --id \S+)` has them again/.exec(said) ?? [];
  await machine.memsync(...again.split(" "));
  expect(await machine.memsync("get", "key")).toBe("value");
});

scenario("of a folder that no repository names, `link` says how others join it", async (lab) => {
  const dir = lab.git.path("plain");
  await mkdir(dir);
  const machine = lab.machine("a", dir);
  await machine.memsync("start");
  const first = (await machine.run(["link"])).stderr.replaceAll(/\n\s*/g, " ");
  const { id } = await machine.projectOf();
  expect(first).toContain(`on other machines \`memsync link --id ${id}\` joins it`);
  expect((await machine.run(["link"])).stderr).toBe("");
  const known = await lab.git.repository("known", { "README.md": "" });
  expect((await machine.run(["link", known])).stderr).toBe("");
});
