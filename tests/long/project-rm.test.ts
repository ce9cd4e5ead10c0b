import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const TEXT = "# Widget\n\n- npm test\n";

const textIn = ({ folder }: Machine) => readFileSync(join(folder, FILE), "utf8");
const save = (lab: Lab, { folder }: Machine, text: string) =>
  lab.git.write(join(folder, FILE), text);

/** Two machines with a project of a text and a memory, the same on both. */
async function startTwo(lab: Lab, service: ServiceConfig): Promise<readonly [Machine, Machine]> {
  const [a, b] = await lab.twoMachines(service, { "README.md": "", ".gitignore": FILE });
  for (const each of [a, b]) await lab.git.write(join(each.home, "machine"), `the ${each.name}\n`);
  await save(lab, a, TEXT);
  await Promise.all([a.up(), b.up()]);
  await a.memsync("set", "build", "npm run build");
  await waitFor("the file on b", () => textIn(b) === TEXT);
  await waitFor("the memory on b", async () => (await b.list()).length === 1);
  return [a, b];
}

async function untilDeleted(machine: Machine): Promise<void> {
  await waitFor(`${machine.name} to know of it`, async () => {
    return (await machine.fileStatus())?.why === "deleted";
  });
}

/** The ids of the projects that the service shows. */
async function idsAt({ url, token }: ServiceConfig): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const { projects } = (await (await fetch(`${url}/api/projects`, { headers })).json()) as {
    projects: { id: string }[];
  };
  return projects.map(({ id }) => id);
}

scenario("a project that is deleted is gone everywhere, and its files stay", async (lab) => {
  const service = emulator.account("deleted");
  const [a, b] = await startTwo(lab, service);
  const { id } = await a.projectOf();
  for (const [named, said] of [
    ["orgin", ': did you mean "origin"?'],
    ["nope", "; `memsync projects` lists those there are"],
  ] as const) {
    expect((await a.run(["project", "rm", named, "--yes"])).stderr).toBe(
      `memsync: there is no folder ${a.folder}/${named}, and ${named} is no project's id or ` +
        `name${said}\n`,
    );
  }
  expect(await a.memsync("get", "build", "--project", "origin")).toBe("npm run build");
  const unasked = await a.run(["project", "rm", "."]);
  expect([unasked.status, unasked.stdout]).toEqual([1, ""]);
  expect(unasked.stderr).toBe(
    `memsync: nothing was deleted: Delete origin (${id}) with 3 lines of text and 1 memory, ` +
      "everywhere? Files stay. Say so by --yes\n",
  );
  expect(await a.memsync("project", "rm", id, "--yes")).toStartWith("deleted origin here, and ");
  await a.sync();
  await untilDeleted(b);
  for (const each of [a, b]) {
    expect(textIn(each)).toBe(TEXT);
    expect(await each.list()).toEqual([]);
    expect(await each.memsync("doc")).toBe("");
    expect(await each.memsync("conflicts")).toBe("no conflicts\n");
    expect(await each.memsync("status")).toMatch(
      /CLAUDE\.md {3}stays as it is: its project was deleted on the a: `memsync link --anew` begins/,
    );
    expect(await each.memsync("history", "build")).toContain("npm run build");
    expect(await each.memsync("doc", "history")).toMatch(/ {2}the a +current +\+0 -3 lines/);
  }
  expect(await idsAt(service)).toEqual([]);
  await save(lab, b, `${TEXT}- written after it\n`);
  await b.sync();
  const wasDeleted =
    /^memsync: proj_\w+ was deleted .* on the a: `memsync link --anew` begins it anew\n/;
  for (const [command, told] of [
    [["doc"], ""],
    [["doc", "history"], expect.stringContaining("+")],
    [["list"], "no memories yet; save one with `memsync set KEY VALUE`\n"],
    [["get", "key"], ""],
  ] as const) {
    const { stdout, stderr } = await a.run(command);
    expect([command, stdout, stderr]).toEqual([command, told, expect.stringMatching(wasDeleted)]);
  }
  expect(textIn(a)).toBe(TEXT);
  const set = await b.run(["set", "key", "value"]);
  expect([set.status, set.stderr]).toEqual([
    1,
    expect.stringMatching(/was deleted .* on the a: `memsync link --anew` begins it anew\n$/),
  ]);
  expect((await a.run(["project", "rm", id, "--yes"])).stderr).toBe(
    "memsync: origin is deleted already\n",
  );
});

scenario("a machine that was offline brings nothing back, and loses nothing", async (lab) => {
  const service = emulator.account("offline");
  const network = await lab.network(service);
  const [a, b] = await startTwo(lab, service);
  await b.down();
  b.service = network;
  network.cut();
  await b.up();
  await b.memsync("set", "lint", "npm run lint");
  await save(lab, b, `${TEXT}- of b\n`);
  await waitFor("the save", async () => (await b.memsync("doc")).includes("of b"));
  await a.memsync("project", "rm", ".", "--yes");
  await a.sync();
  network.restore();
  await b.sync();
  await untilDeleted(b);
  expect(textIn(b)).toBe(`${TEXT}- of b\n`);
  expect(textIn(a)).toBe(TEXT);
  await a.sync();
  for (const each of [a, b]) {
    expect((await each.list()).map(({ key }) => key)).toEqual(["lint"]);
    expect((await each.projectOf()).deleted?.machine).toBe("the a");
    expect(await each.memsync("sync")).toContain(
      " was deleted, and its 1 memory here no more synced: see `memsync status`",
    );
  }
  expect(await idsAt(service)).toEqual([]);
  const { id } = await b.projectOf();
  const left = (await b.run(["unlink"])).stderr;
  expect(left).toContain(`1 memory of it here: \`memsync list --project ${id}\``);
  expect(await b.memsync("list", "--project", id)).toContain("npm run lint");
  const all = ["is synced", "deleted, 1 memory written since", "`memsync list --project ID`"];
  for (const isUp of [true, false]) {
    if (!isUp) await b.down();
    else expect(await b.memsync("sync")).toContain(all[0] ?? "");
    const listed = await b.run(["projects"]);
    expect(listed.stdout).toMatch(new RegExp(`${id} .*${all[1]}`));
    expect(listed.stderr).toContain(all[2] ?? "");
    expect((await b.run(["status"])).stdout).not.toContain("unlinked");
  }
});

scenario("a deleted project is begun anew with the file that is there", async (lab) => {
  const service = emulator.account("anew");
  const [a, b] = await startTwo(lab, service);
  const { id } = await a.projectOf();
  await a.memsync("project", "rm", ".", "--yes");
  await a.sync();
  await untilDeleted(b);
  await save(lab, a, `${TEXT}- new\n`);
  const previewed = await a.memsync("preview");
  expect(previewed.replace(/\s+/g, " ")).toContain(
    "not sent: stays as it is: its project was deleted on the a: `memsync link --anew`",
  );
  expect(previewed).not.toContain("not read yet");
  await a.memsync("link", "--anew");
  await waitFor("the text on b", () => textIn(b) === `${TEXT}- new\n`);
  await waitFor("the file to be followed", async () => {
    return (await b.fileStatus())?.state === "followed";
  });
  expect(await idsAt(service)).toEqual([id]);
  expect(await b.list()).toEqual([]);
  await b.memsync("set", "build", "make");
  await waitFor("the memory on a", async () => (await a.list())[0]?.value === "make");
  expect(await b.memsync("conflicts")).toBe("no conflicts\n");
});

scenario(
  "whoever begins a deleted project anew is told what another's file brings back",
  async (lab) => {
    const service = emulator.account("brought");
    const [a, b] = await startTwo(lab, service);
    await a.memsync("project", "rm", ".", "--yes");
    await a.sync();
    await untilDeleted(b);
    await rm(join(a.folder, FILE));
    await a.memsync("link", "--anew");
    await waitFor("the text on a", () => existsSync(join(a.folder, FILE)) && textIn(a) === TEXT);
    for (const each of [a, b]) {
      await waitFor(`${each.name} to be told`, async () => {
        return (await each.memsync("conflicts")).includes("a file came");
      });
    }
  },
);

scenario("a project that is linked nowhere here is listed, and deleted everywhere", async (lab) => {
  const service = emulator.account("unlinked");
  const [a, b] = await startTwo(lab, service);
  const { id, name } = await a.projectOf();
  await a.memsync("unlink");
  await b.memsync("set", "late", "written when a followed it no longer");
  await b.sync();
  const listed = await a.run(["projects"]);
  expect(listed.stdout).toMatch(new RegExp(`^${name} +${id} +linked nowhere here\n$`));
  expect(listed.stderr).toContain("`memsync project rm ID` deletes it everywhere");
  expect(JSON.parse(await a.memsync("projects", "--json"))).toMatchObject([
    { id, name, memories: 1, text: { lines: 3 }, deleted: null, folders: [] },
  ]);
  const line = "unlinked  1 project is linked nowhere here: `memsync projects` lists them";
  expect(await a.memsync("status")).toContain(`${line}\n`);
  const unasked = await a.run(["project", "rm", name]);
  expect(unasked.stderr).toBe(
    `memsync: nothing was deleted: Delete ${name} (${id}), which is linked nowhere here, with ` +
      "3 lines of text and 1 memory as far as this machine knows, everywhere? Files stay. " +
      "Say so by --yes\n",
  );
  expect(await a.memsync("project", "rm", name, "--yes")).toStartWith(`deleted ${name} here, and `);
  await untilDeleted(b);
  expect(textIn(b)).toBe(TEXT);
  expect(await b.list()).toEqual([]);
  expect(await b.memsync("history", "late")).toContain("written when a");
  expect(await idsAt(service)).toEqual([]);
  await a.sync();
  expect((await a.status()).unlinked).toEqual([]);
  expect(await a.memsync("status")).not.toContain("linked nowhere here");
  expect((await a.run(["project", "rm", id, "--yes"])).stderr).toBe(
    `memsync: ${name} is deleted already\n`,
  );
});

scenario("a deletion of what is linked nowhere waits for its service, as any", async (lab) => {
  const service = emulator.account("unlinked-offline");
  const network = await lab.network(service);
  const [a, b] = await startTwo(lab, service);
  const { id } = await a.projectOf();
  const elsewhere = await lab.git.repository("elsewhere", { "README.md": "" });
  await a.down();
  a.service = network;
  await a.up(elsewhere);
  await a.untilSynced();
  await a.memsync("unlink");
  network.cut();
  await a.memsync("project", "rm", id, "--yes");
  expect(await a.memsync("status")).toMatch(/^unlinked .*\n +deleted, 1 change waiting$/m);
  expect((await a.run(["sync", "--wait", "0"])).stderr).toContain("origin (1 change)");
  const listed = await a.memsync("projects");
  expect(listed).toMatch(new RegExp(`^origin +${id} +deleted, which waits for its service$`, "m"));
  await a.down("SIGKILL");
  expect(await a.memsync("projects")).toBe(listed);
  expect((await a.run(["status"])).stdout).toMatch(/^unlinked .*\n +deleted, 1 change waiting$/m);
  network.restore();
  await a.up(elsewhere);
  await untilDeleted(b);
  expect(await idsAt(service)).not.toContain(id);
  await a.untilSynced();
  expect((await a.status()).unlinked).toEqual([]);
  await a.down();
  expect(await a.memsync("projects")).not.toContain(id);
});

scenario("`link` says that a project was deleted, also where that was not known", async (lab) => {
  const service = emulator.account("link-deleted");
  const [a, b] = await startTwo(lab, service);
  const { id } = await a.projectOf();
  await b.memsync("unlink");
  await a.memsync("project", "rm", ".", "--yes");
  await a.sync();
  const told = /origin was deleted \d{4}-\S+ \S+ on the a: `memsync link --anew` begins it anew/;
  for (const each of [a, b]) {
    const { status, stdout, stderr } = await each.run(["link"]);
    expect([status, stdout]).toEqual([0, `linked ${each.folder} to origin (${id})\n`]);
    expect(stderr.replaceAll("\n", " ")).toMatch(told);
    const { deleted } = JSON.parse(await each.memsync("link", "--json"));
    expect(deleted).toMatchObject({ machine: "the a" });
    expect((await each.run(["projects"])).stderr).toContain(
      "deleted: origin; `memsync link --anew`",
    );
    expect(await each.memsync("unlink")).toEndWith("; its project was deleted\n");
  }
});

scenario(
  "`link --anew` begins a project anew of whose end this machine had not heard",
  async (lab) => {
    const service = emulator.account("unheard");
    const [a, b] = await startTwo(lab, service);
    await b.memsync("unlink");
    await a.memsync("project", "rm", ".", "--yes");
    await a.sync();
    const anew = await b.run(["link", "--anew"]);
    expect([anew.status, anew.stderr]).toEqual([
      0,
      "memsync: origin is begun anew: its memories, metadata and connections stay deleted\n",
    ]);
    await b.untilSynced();
    expect((await b.projectOf()).deleted).toBeNull();
    expect((await b.run(["link", "--anew"])).stderr).toBe(
      "memsync: origin was not deleted: there was nothing to begin anew, and nothing has changed\n",
    );
    expect(await b.memsync("doc")).toBe(TEXT);
    expect(await b.list()).toEqual([]);
    await waitFor("the file on a to be followed", async () => {
      return (await a.fileStatus())?.state === "followed";
    });
    expect(textIn(a)).toBe(TEXT);
  },
);

scenario(
  "a folder that is not linked is no project, and another one is named by no option",
  async (lab) => {
    const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
    await machine.up();
    const { status, stderr } = await machine.run(["project", "rm", "/", "--yes"]);
    expect([status, stderr]).toEqual([
      1,
      "memsync: / is not linked: run `memsync up` there, or name one of " + "`memsync projects`\n",
    ]);
  },
);

scenario(
  "a project whose name is empty is none, and nothing of the one around is deleted",
  async (lab) => {
    const service = emulator.account("unset");
    const [a] = await startTwo(lab, service);
    const { id } = await a.projectOf();
    // As a script types them of which a variable is unset.
    for (const args of [
      ["project", "rm", "", "--yes"],
      ["rm", "build", "--project", ""],
      ["set", "build", "lost", "--project", ""],
      ["doc", "write", "--project", ""],
      ["auto-memory", "delete", "--project", "", "--yes"],
    ]) {
      const { status, stderr } = await a.run(args);
      expect([args, status, stderr]).toEqual([
        args,
        2,
        `memsync: ${args[1] === "rm" ? "<project>" : "--project"} is empty: \`.\` is the current folder\n`,
      ]);
    }
    await a.untilSynced();
    expect(await idsAt(service)).toContain(id);
    expect(await a.memsync("get", "build", "--project", ".")).toBe("npm run build");
  },
);

scenario("a project that nobody here knows is not deleted by half", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  await machine.up();
  const { status, stderr } = await machine.run(["project", "rm", "proj_unknown", "--yes"]);
  expect([status, stderr]).toEqual([
    1,
    "memsync: there is no project proj_unknown on this machine: `memsync projects` lists them, " +
      "`memsync link DIR --id proj_unknown` follows it\n",
  ]);
});

scenario("who deletes a project is told beforehand what is held of it", async (lab) => {
  const [a] = await lab.twoMachines(emulator.account("deleted-held"), { ".gitignore": FILE });
  await save(lab, a, TEXT);
  await a.up();
  await a.untilSynced();
  await a.memsync("set", "deploy", `token ${PLANTED.github}`);
  const { stderr } = await a.run(["project", "rm", "."]);
  expect(stderr).toContain("1 held write goes, too, and is in no history: `memsync held`. Files");
  expect(await a.memsync("held")).toContain("deploy");
});
