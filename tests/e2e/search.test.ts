import { expect } from "bun:test";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { ListedMemory, Machine } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const emulator = sharedEmulator();

async function keysFound(machine: Machine, ...query: readonly string[]): Promise<string[]> {
  const found = JSON.parse(await machine.memsync("search", "--json", ...query)) as ListedMemory[];
  return found.map(({ key }) => key);
}

scenario("search finds what the gateway's q finds, and what it has not seen yet", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("search"));
  await machine.up();
  await machine.memsync("set", "build", "npm run build, never make");
  await machine.memsync("set", "tests", "npm test; the café is closed");
  await machine.memsync("set", "replaced", "zebra");
  await machine.memsync("set", "deleted", "zebra");
  await machine.memsync("set", "mine", "npm build of my own", "--layer", "user");
  await machine.memsync("set", "quoted", 'a "b" AND c*');
  const { id } = await machine.projectOf();
  const queries = [
    "npm",
    "NPM build",
    "cafe",
    "caf",
    "zebra",
    '"b"',
    "AND",
    "c* OR",
    "!!!",
    "mine",
  ];
  for (const q of queries) {
    const query = new URLSearchParams({ q, project_id: id });
    const { memories } = (await machine.ask("GET", `/v1/memories?${query}`)) as {
      memories: { key: string }[];
    };
    expect([q, await keysFound(machine, q)]).toEqual([q, memories.map(({ key }) => key)]);
  }
  await machine.down();
  await machine.memsync("set", "replaced", "giraffe");
  await machine.memsync("rm", "deleted");
  await machine.memsync("set", "new", "a giraffe, and a Café");
  expect(await keysFound(machine, "zebra")).toEqual([]);
  expect((await keysFound(machine, "giraffe")).sort()).toEqual(["new", "replaced"]);
  expect(await keysFound(machine, "cafe")).toEqual(["tests", "new"]);
  expect(await keysFound(machine, "npm", "--layer", "user")).toEqual(["mine"]);
  expect(await machine.memsync("search", "make")).toBe(
    "build  project  npm run build, never make\n",
  );
  expect(await machine.memsync("search", "nothing", "so")).toContain("nothing so");
  expect(await machine.memsync("search", "make", "xylophone")).toBe(
    "no memory here holds all of: make xylophone; these hold some of it:\n" +
      "build  project  npm run build, never make\n",
  );
});

scenario("search finds connected projects on every machine, as long as they are", async (lab) => {
  const service = emulator.account("search-connected");
  const shop = await lab.git.repository("shop", { "README.md": "shop" });
  const api = await lab.git.repository("api", { "README.md": "api" });
  const a = lab.machine("a", shop, service);
  const b = lab.machine("b", shop, service);
  await a.up(shop, api);
  await a.memsyncWith({ cwd: api }, "set", "errors", "line one\nthe Walrüs error codes");
  await a.memsync("set", "walrus", "of the shop");
  await a.untilSynced();
  expect(await keysFound(a, "walrus")).toEqual(["walrus"]);
  await a.memsync("connect", shop, api);
  await a.untilSynced();
  await b.up(shop, api);
  await b.untilSynced();
  for (const machine of [a, b]) {
    expect(await keysFound(machine, "walrus")).toEqual(["walrus", "errors"]);
    expect(await keysFound(machine, "walrus", "--layer", "project")).toEqual(["walrus"]);
    expect(await machine.memsync("search", "walrus", "error")).toBe(
      "errors  project of api  … the Walrüs error codes\n",
    );
  }
  await b.memsync("disconnect", shop, api);
  await b.untilSynced();
  await a.untilSynced();
  for (const machine of [a, b]) expect(await keysFound(machine, "walrus")).toEqual(["walrus"]);
});

scenario(
  "search says which connected projects it can't look into, and how to get them",
  async (lab) => {
    const service = emulator.account("search-elsewhere");
    const shop = await lab.git.repository("shop", { "README.md": "shop" });
    const api = await lab.git.repository("api", { "README.md": "api" });
    const a = lab.machine("a", shop, service);
    const b = lab.machine("b", shop, service);
    await a.up(shop, api);
    await a.memsyncWith({ cwd: api }, "set", "errors", "the walrus");
    await a.memsync("connect", shop, api);
    await a.untilSynced();
    const { id: there } = await a.projectOf(api);
    const connectedIds = async (machine: Machine) => {
      const { id } = await machine.projectOf();
      const project = await machine.ask("GET", `/api/projects/${id}`);
      return project as { connected_project_ids: string[]; connected_projects: { id: string }[] };
    };
    expect(await connectedIds(a)).toMatchObject({
      connected_project_ids: [there],
      connected_projects: [{ id: there, memories: [{ key: "errors", value: "the walrus" }] }],
    });
    await b.up(shop);
    await b.untilSynced();
    expect(await connectedIds(b)).toMatchObject({
      connected_project_ids: [there],
      connected_projects: [],
    });
    const { stdout, stderr } = await b.run(["search", "walrus", "--json"]);
    expect(stdout).toBe("[]\n");
    const way = `memsync link DIR --id ${there}`;
    expect(stderr.replace(/\s+/g, " ")).toContain(
      `this project is connected to 1 project of which this machine has nothing, so none was searched: \`${way}\``,
    );
    expect((await b.run(["search", "walrus", "--layer", "project"])).stderr).toBe("");
    await b.memsync("link", api, "--id", there);
    await b.untilSynced();
    expect(await keysFound(b, "walrus")).toEqual(["errors"]);
    expect((await b.run(["search", "walrus"])).stderr).toBe("");
    await b.memsync("project", "rm", there, "--yes");
    await a.untilSynced();
    await b.untilSynced();
    for (const machine of [a, b]) {
      expect((await machine.run(["search", "walrus"])).stderr).toBe("");
      expect((await connectedIds(machine)).connected_project_ids).toEqual([]);
    }
  },
);

scenario("search finds what is held", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("search-held"));
  await machine.up();
  await machine.memsync("set", "deploy", `walrus ${PLANTED.github}`);
  expect(await machine.memsync("search", "walrus")).toContain("project, held");
});

scenario("a search for nothing is wrong use", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  for (const query of [[""], ["  "], ["", "--json"]]) {
    const { status, stdout, stderr } = await machine.run(["search", ...query]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("say what to search for");
  }
});
