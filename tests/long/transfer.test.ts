import { expect } from "bun:test";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

interface Exported {
  format: number;
  projects: {
    id: string;
    name?: string;
    claude_md_content: string;
    metadata: Record<string, unknown>;
    memories: { key: string; value: string; updated_at: string; conflicts?: { value: string }[] }[];
    text_conflicts?: unknown[];
  }[];
  user: { memories: { key: string; value: string }[] };
  global: { memories: { key: string; value: string }[] };
}

async function exported(machine: Machine): Promise<Exported> {
  return JSON.parse(await machine.memsync("export")) as Exported;
}

/** Two machines with memories of every layer, a conflict of each kind, and something held. */
async function makeHome(lab: Lab, account: string): Promise<readonly [Machine, string]> {
  const service = emulator.account(account);
  const [a, b] = await lab.twoMachines(service, { "CLAUDE.md": "# One\nline\n", ".gitignore": "" });
  await Promise.all([a.up(), b.up()]);
  const { id } = await a.projectOf();
  await a.ask("POST", `/api/projects/${id}/sync`, {
    claude_md_content: "# One\nline\n",
    metadata: { zeta: { b: [1, null], a: "x" }, "10": 1, language: "go" },
  });
  await a.untilSynced();
  await b.untilSynced();
  await Promise.all([a.down(), b.down()]);
  await b.memsync("set", "both", "by b");
  await a.memsync("set", "both", "by a\nand more");
  await a.memsync("set", 'odd "key" ✓', "  leading, trailing  \r\n\n");
  await a.memsync("set", "empty", "");
  await a.memsync("set", "mine", "of the user", "--layer", "user");
  await a.memsync("set", "all", "of all", "--layer", "global");
  await b.up();
  await b.untilSynced();
  await a.up();
  await waitFor("the conflict", async () => (await a.memsync("conflicts")).includes("both"));
  await a.memsync("set", "deploy", PLANTED.github);
  await a.down();
  await a.memsync("set", "late", "saved while no daemon ran");
  await a.memsync("rm", "empty");
  await b.down();
  return [a, id];
}

scenario("an export comes back byte for byte from an empty home", async (lab) => {
  const [a, id] = await makeHome(lab, "round-trip");
  const { stdout: whole, stderr } = await a.run(["export"]);
  const held = "1 held write is in the export, so keep it to yourself";
  expect(stderr).toContain(held);
  const missing = await a.run(["export", join(lab.git.folder, "nowhere", "export.json")]);
  expect(missing.stderr).toContain("can't be written");
  expect(missing.stderr).not.toContain(held);
  const file = join(lab.git.folder, "export.json");
  expect((await a.run(["export", file])).stderr).toContain(held);
  const home = JSON.parse(whole) as Exported;
  const project = home.projects.find((each) => each.id === id);
  expect(home.format).toBe(1);
  expect(project?.claude_md_content).toBe("# One\nline\n");
  expect(project?.metadata).toEqual({ zeta: { b: [1, null], a: "x" }, "10": 1, language: "go" });
  expect(project?.memories.map(({ key }) => key)).toEqual([
    "both",
    "deploy",
    "late",
    'odd "key" ✓',
  ]);
  expect(project?.memories[0]).toMatchObject({
    value: "by a\nand more",
    conflicts: [{ value: "by b" }],
  });
  expect(home.user.memories.map(({ key }) => key)).toEqual(["mine"]);
  expect(home.global.memories.map(({ key }) => key)).toEqual(["all"]);

  const empty = lab.machine("c", lab.git.path("c-folder-of-none"));
  await lab.git.repository("c-folder-of-none", { "README.md": "" });
  const done = await empty.memsyncWith({ stdin: whole }, "import", "-", "--json");
  expect(JSON.parse(done)).toMatchObject({ created: 5, updated: 0, unchanged: 0, held: 1 });
  expect(await empty.memsync("export")).toBe(whole);
  // Again, and into the home that it came from, it changes nothing.
  for (const machine of [empty, a]) {
    const again = await machine.memsyncWith({ stdin: whole }, "import", "-", "--json");
    expect(JSON.parse(again)).toMatchObject({ created: 0, updated: 0, unchanged: 6, texts: 0 });
    expect(await machine.memsync("export")).toBe(whole);
  }
  // A daemon takes the same, and the same comes out of it.
  const other = lab.machine("d", lab.git.path("c-folder-of-none"));
  await other.up();
  await other.memsync("unlink");
  const alone = new Set((await exported(other)).projects.map((each) => each.id));
  await other.memsyncWith({ stdin: whole }, "import", "-");
  const { projects, ...layers } = await exported(other);
  expect({ ...layers, projects: projects.filter((each) => !alone.has(each.id)) }).toEqual(home);
});

scenario("an export names the remote of its own memories where another has some", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  const { url, token } = emulator.account("export-own");
  await machine.memsyncWith({ stdin: `${token}\n` }, "login", "--url", url, "--token-stdin");
  await machine.memsync("set", "k", "v", "--layer", "user");
  await machine.memsync("start");
  await machine.sync();
  expect((await machine.run(["export"])).stderr).toBe("");
  await machine.memsync("set", "k", "v", "--layer", "user", "--remote", "embedded");
  await machine.sync();
  expect((await machine.run(["export"])).stderr).toContain("--remote takes another's");
});

scenario("a project that was deleted is not exported", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "CLAUDE.md": "# One\n" }));
  const exported = async () =>
    (JSON.parse(await machine.memsync("export")) as Exported).projects.map(({ id }) => id);
  await machine.up();
  const { id } = await machine.projectOf();
  expect(await exported()).toEqual([id]);
  await machine.memsync("unlink");
  await machine.memsync("project", "rm", id, "--yes");
  expect(await exported()).toEqual([]);
});

scenario("an import into a used home loses nothing", async (lab) => {
  const [a, id] = await makeHome(lab, "used");
  const whole = await a.memsync("export");
  const changed = JSON.parse(whole) as Exported;
  const project = changed.projects.find((each) => each.id === id);
  for (const memory of project?.memories ?? []) {
    if (memory.key === "late") memory.value = "from the file";
  }
  project?.memories.push({ key: "new", value: "x", updated_at: "2020-01-01T00:00:00.000Z" });
  const before = await a.list();
  await writeFile(lab.git.path("changed.json"), JSON.stringify(changed));
  for (const up of [false, true]) {
    if (up) await a.up();
    const done = await a.memsync("import", lab.git.path("changed.json"), "--json");
    expect(JSON.parse(done)).toMatchObject(
      up ? { created: 0, updated: 0, unchanged: 7 } : { created: 1, updated: 1, unchanged: 5 },
    );
    expect(await a.memsync("get", "late")).toBe("from the file");
    expect(await a.memsync("history", "late")).toContain("saved while no daemon ran");
    const after = new Map((await a.list()).map((memory) => [memory.key, memory.value]));
    for (const { key, value } of before) if (key !== "late") expect(after.get(key)).toBe(value);
  }
  // What was imported is synced like any write, and what is held is not.
  await a.untilSynced();
  const account = emulator.account("used");
  const answer = await fetch(`${account.url}/v1/memories?project_id=${id}`, {
    headers: { authorization: `Bearer ${account.token}` },
  });
  const text = await answer.text();
  expect(text).toContain("from the file");
  expect(text).not.toContain(PLANTED.github);
});

scenario("a bad document is refused whole, with its places named", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder);
  await machine.memsync("set", "kept", "as it is", "--layer", "user");
  const before = await machine.memsync("export");
  const updated_at = "2020-01-01T00:00:00.000Z";
  const good = {
    format: 1,
    projects: [{ id: "proj_x", claude_md_content: "", metadata: {}, memories: [] }],
    user: { memories: [{ key: "new", value: "v", updated_at }] },
    global: { memories: [] },
  };
  const bad: readonly (readonly [unknown, RegExp])[] = [
    [{ ...good, format: 2 }, /newer memsync/],
    [{ memories: [] }, /no known `format`/],
    [[], /no known `format`/],
    [{ ...good, user: {} }, /\/user\/memories is required/],
    [
      { ...good, global: { memories: [{ key: "", value: 1, updated_at: "soon" }] } },
      /\/global\/memories\/0\/key .*\n.*\/global\/memories\/0\/value .*\n.*0\/updated_at/,
    ],
    [
      { ...good, projects: [...good.projects, ...good.projects] },
      /\/projects\/1\/id is given twice/,
    ],
    [
      { ...good, projects: [{ ...good.projects[0], metadata: { "memsync.x": 1, y: null } }] },
      /\/projects\/0\/metadata\/memsync\.x .*\n.*\/projects\/0\/metadata\/y must not be null/,
    ],
    [
      { ...good, user: { memories: [...good.user.memories, ...good.user.memories] } },
      /\/user\/memories\/1\/key is given twice/,
    ],
    [
      {
        ...good,
        user: { memories: [{ key: "k", value: "x".repeat(32 * 1024 + 1), updated_at }] },
      },
      /\/user\/memories\/0\/value must be at most 32768 bytes/,
    ],
    [
      { ...good, user: { memories: [{ key: "cut \ud83d", value: "v", updated_at }] } },
      /\/user\/memories\/0\/key has half of a character/,
    ],
    [
      { ...good, projects: [{ ...good.projects[0], metadata: { deep: [{ "\ude00": 1 }] } }] },
      /\/projects\/0\/metadata\/deep\/0\/\ufffd has half of a character/,
    ],
  ];
  for (const up of [false, true]) {
    if (up) await machine.up();
    const now = up ? await machine.memsync("export") : before;
    for (const [document, sentence] of bad) {
      const stdin = JSON.stringify(document);
      const { status, stdout, stderr } = await machine.run(["import", "-"], { stdin });
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(sentence);
      expect(stderr).toContain("nothing of it was");
      if (up)
        expect((await machine.gateway("POST", "/_memsync/import", document)).status).toBe(400);
    }
    const { stderr } = await machine.run(["import", "-"], { stdin: "{" });
    expect(stderr).toContain("it is not JSON");
    expect(await machine.memsync("export")).toBe(now);
  }
});

scenario("an export to a file is private, whole, and replaces nothing unasked", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const machine = lab.machine("a", folder);
  const file = lab.git.path("out.json");
  expect(JSON.parse(await machine.memsync("export"))).toMatchObject({ format: 1, projects: [] });
  await machine.memsync("set", "key", "value", "--layer", "global");
  expect(await machine.memsync("export", file)).toContain("1 memory to");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, "utf8")).toBe(await machine.memsync("export", "-"));
  const again = await machine.run(["export", file]);
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("--force")]);
  expect(JSON.parse(await machine.memsync("export", file, "--force", "--json"))).toMatchObject({
    file,
    memories: 1,
  });
  for (const args of [
    ["import", "nowhere.json"],
    ["export", "nowhere/out.json"],
  ]) {
    const { status, stderr } = await machine.run(args);
    expect([args, status, stderr]).toEqual([
      args,
      1,
      expect.stringMatching(/^memsync: \S+\.json can't be \w+: there is no such file or folder\n$/),
    ]);
  }
});

scenario("conflicts of a text are shown after an import as before the export", async (lab) => {
  const lines = Array.from({ length: 14 }, (_, at) => `line ${at + 1}\n`);
  const machine = lab.machine("a", await lab.git.repository("a", { ".gitignore": "CLAUDE.md" }));
  const file = `${machine.folder}/CLAUDE.md`;
  await writeFile(file, lines.join(""));
  await machine.up();
  await waitFor("the text", async () => (await machine.memsync("doc")) === lines.join(""));
  await writeFile(file, "line 1\n");
  const shown = async (at: Machine) => JSON.parse(await at.memsync("conflicts", "--json"));
  await waitFor("the notice", async () => (await shown(machine)).length === 1);
  const [before] = (await shown(machine)) as { cause: string; lines: number }[];
  expect(before).toMatchObject({ cause: "deletion", lines: 13 });
  const whole = await machine.memsync("export");
  const other = lab.machine("b", lab.git.path("b-folder-of-none"));
  await lab.git.repository("b-folder-of-none", { "README.md": "" });
  await other.memsyncWith({ stdin: whole }, "import", "-");
  expect(await shown(other)).toEqual([before]);
});
