import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { type Machine, MEMSYNC } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

const VALUES: Readonly<Record<string, string>> = {
  plain: "value",
  empty: "",
  lines: "one\ntwo\n\n",
  "no final line break": "one\ntwo",
  crlf: "one\r\ntwo\r\n",
  unicode: "üç€ 🎉 \u200B \uFEFF 語\n",
  spaces: "  \t ",
  quotes: `"'\\ $HOME \`x\``,
  "a key / with ünïcode": "-",
  dashes: "--json",
};

async function setAll(machine: Machine): Promise<void> {
  for (const [key, value] of Object.entries(VALUES)) {
    await machine.memsyncWith({ stdin: value }, "set", key, "-");
  }
}

async function expectAll(machine: Machine): Promise<void> {
  for (const [key, value] of Object.entries(VALUES)) {
    expect([key, await machine.memsync("get", key)]).toEqual([key, value]);
  }
}

/** How many versions each key has; more than one is a conflict. */
function versionsOf(machine: Machine): Record<string, number> {
  const database = new Database(join(machine.home, "memsync.db"), { readonly: true });
  try {
    const rows = database.query("SELECT key, entry_ids FROM memories").all() as {
      key: string;
      entry_ids: string;
    }[];
    return Object.fromEntries(
      rows.map((row) => [row.key, (JSON.parse(row.entry_ids) as unknown[]).length]),
    );
  } finally {
    database.close();
  }
}

scenario("without a daemon values are kept byte for byte, and with the next one", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("bytes"));
  await setAll(machine);
  await expectAll(machine);
  expect((await machine.list()).every(({ saved }) => saved === "inbox")).toBe(true);
  await machine.up();
  await expectAll(machine);
  expect((await machine.list()).every(({ saved }) => saved === "replica")).toBe(true);
});

scenario("with a daemon values are kept byte for byte, here and elsewhere", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("bytes-daemon"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  await setAll(a);
  await expectAll(a);
  await waitFor("all on b", async () => (await b.list()).length === Object.keys(VALUES).length);
  await expectAll(b);
});

scenario("`get K | set K -` changes nothing", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("pipe"));
  const pipe = async (key: string) => {
    const value = await machine.memsync("get", key);
    await machine.memsyncWith({ stdin: value }, "set", key, "-");
  };
  await setAll(machine);
  for (const key of Object.keys(VALUES)) await pipe(key);
  await expectAll(machine);
  await machine.up();
  for (const key of Object.keys(VALUES)) await pipe(key);
  await expectAll(machine);
});

scenario("overwrites and deletions made without a daemon make no conflicts", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("inbox"), { "README.md": "" });
  await a.up();
  await a.memsync("set", "old", "0");
  await a.memsync("set", "deleted", "0");
  await a.untilSynced();
  await a.down();
  for (const value of ["1", "2", "3"]) await a.memsync("set", "old", value);
  for (const value of ["1", "2"]) await a.memsync("set", "new", value);
  await a.memsync("rm", "deleted");
  await a.memsync("set", "brief", "1");
  await a.memsync("rm", "brief");
  await a.memsync("set", "again", "1");
  await a.memsync("rm", "again");
  await a.memsync("set", "again", "2");
  expect((await a.run(["rm", "deleted"])).status).toBe(1);
  expect((await a.run(["get", "deleted"])).status).toBe(1);
  const wanted = { old: "3", new: "2", again: "2" };
  const shown = async (machine: Machine) =>
    Object.fromEntries((await machine.list()).map(({ key, value }) => [key, value]));
  expect(await shown(a)).toEqual(wanted);
  await Promise.all([a.up(), b.up()]);
  expect(await shown(a)).toEqual(wanted);
  await waitFor("the same on b", async () => Bun.deepEquals(await shown(b), wanted));
  for (const machine of [a, b]) expect(versionsOf(machine)).toEqual({ old: 1, new: 1, again: 1 });
});

scenario("a write made while another machine writes the same key ends equal", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("both"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  await a.memsync("set", "key", "start");
  await waitFor("the memory on b", async () => (await b.run(["get", "key"])).stdout === "start");
  await Promise.all([a.down(), b.down()]);
  await a.memsync("set", "key", "of a");
  await b.memsync("set", "key", "of b");
  await Promise.all([a.up(), b.up()]);
  await waitFor("the later one everywhere", async () => {
    const values = await Promise.all([a, b].map((machine) => machine.memsync("get", "key")));
    return values.every((value) => value === "of b");
  });
  await waitFor("the other one as a conflict", () => {
    return [a, b].every((machine) => versionsOf(machine).key === 2);
  });
});

scenario("without a daemon a disk that takes nothing is told in a sentence", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  await machine.memsync("set", "key", "value", "--layer", "user");
  const memsync = MEMSYNC.map((word) => `'${word}'`).join(" ");
  // In blocks of 512 bytes: enough to open the database, and less than the write takes.
  const script = `ulimit -f 64; ${memsync} set key ${"x".repeat(32_000)} --layer user`;
  const { status, stdout, stderr } = await machine.spawnOther(["sh", "-c", script]).ended();
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(
    /^memsync: the disk of \/\S+ (is full|failed).*: .*nothing (of this )?was saved\n$/,
  );
  expect(stderr).toContain(`the disk of ${machine.home} `);
  expect(await machine.memsync("get", "key", "--layer", "user")).toBe("value");
});

scenario("a fresh home reads as empty, and says what is missing", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  expect(await machine.list("--layer", "user")).toEqual([]);
  const missing = await machine.run(["get", "key", "--layer", "user"]);
  expect([missing.status, missing.stdout]).toEqual([1, ""]);
  expect(missing.stderr).toBe('memsync: there is no memory "key"\n');
  for (const command of [["set", "key", "value"], ["get", "key"], ["list"], ["doc"]]) {
    const unlinked = await machine.run(command);
    expect([command, unlinked.status, unlinked.stdout]).toEqual([command, 1, ""]);
    expect(unlinked.stderr).toContain("is not linked: run `memsync up`");
  }
  await machine.memsync("set", "key", "value", "--layer", "user");
  expect(await machine.memsync("get", "key", "--layer", "user")).toBe("value");
});

scenario("a fresh home knows no remote, and saves nothing for one that is named", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  for (const command of [["set", "k", "v"], ["get", "k"], ["list"]]) {
    const { status, stderr } = await machine.run([...command, "--layer", "user", "--remote", "R"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("there is no remote R")]);
  }
  await machine.memsync("set", "k", "v", "--layer", "user", "--remote", "embedded");
  expect(await machine.memsync("get", "k")).toBe("v");
});

scenario("without a daemon `status` and `projects` show what the home knows", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("home-status"));
  const none = lab.machine("none", machine.folder);
  for (const command of ["status", "projects"]) {
    expect(await none.run([command])).toMatchObject({
      status: 1,
      stdout: "",
      stderr:
        "memsync: no daemon is running: `memsync up` in a project's folder starts one, and " +
        "follows that project\n",
    });
  }
  const other = await lab.git.repository("other", { "README.md": "other" });
  await lab.git.write(`${machine.folder}/CLAUDE.md`, "one\ntwo\n");
  await machine.up();
  await machine.memsync("link", other);
  const { id } = await machine.projectOf();
  await machine.memsync("set", "key", "value");
  await machine.memsync("set", "mine", "value", "--layer", "user");
  await machine.memsync("set", "secret", `ghp_${"a1B2c3D4e5F6".repeat(3)}`);
  await machine.sync();
  const before = await machine.memsync("projects");
  const firstIn = async (cwd: string) => {
    const text = (await machine.run(["projects"], { cwd })).stdout;
    const json = JSON.parse((await machine.run(["projects", "--json"], { cwd })).stdout);
    return [text.split(" ", 1)[0], json[0].name];
  };
  const expectNearestFirst = async () => {
    expect(await firstIn(machine.folder)).toEqual(["a", "a"]);
    expect(await firstIn(other)).toEqual(["other", "other"]);
  };
  await expectNearestFirst();
  await machine.down();
  await expectNearestFirst();
  await machine.memsync("set", "later", "value");
  expect(await machine.memsync("projects")).toBe(before);
  const { status, stdout, stderr } = await machine.run(["status"]);
  expect([status, stderr]).toEqual([1, expect.stringContaining("1 write saved meanwhile waits")]);
  const lines = stdout.split("\n");
  expect(lines[0]).toBe(`here      a   ${id}`);
  expect(lines[2]).toMatch(/^ {10}2 lines \(8 bytes\) of \d\d:\d\d, 3 memories saved$/);
  expect(stdout).toMatch(/^project {3}other {3}proj_/m);
  expect(stdout).toContain("\nuser      seen by you alone: 1 memory saved\nglobal    seen by ");
  expect(stdout).toMatch(/\nheld {6}secret {3}a\n/);
  const json = await machine.run(["status", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    running: false,
    home: machine.home,
    projects: [{ id, memories: 3, folders: [{ dir: machine.folder }] }, { name: "other" }],
    in_inbox: 1,
    conflicts: 0,
  });
});

scenario("`projects --by-change` begins with what changed last, with the time", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("by-change"));
  const other = await lab.git.repository("other", { "README.md": "other" });
  await machine.up();
  await machine.memsync("set", "key", "value");
  await machine.sync();
  await machine.memsync("link", other);
  await machine.memsync("set", "key", "value", "--project", other);
  await machine.sync();
  await machine.memsync("unlink", other);
  const byChange = async () => {
    const projects = JSON.parse(await machine.memsync("projects", "--by-change", "--json")) as {
      name: string;
      changed_at: string;
    }[];
    const times = projects.map((each) => each.changed_at);
    expect(times).toEqual(times.toSorted().toReversed());
    return projects.map(({ name }) => name);
  };
  // Neither the project in which one stands is always the first, nor an unlinked one the last.
  expect(await byChange()).toEqual(["other", "a"]);
  await machine.down();
  expect(await byChange()).toEqual(["other", "a"]);
  await machine.memsync("set", "later", "it waits for the next daemon");
  expect(await byChange()).toEqual(["a", "other"]);
  expect(await machine.memsync("projects", "--by-change")).toMatch(
    /^[\d-]{10} \d\d:\d\dZ {2}a +proj_.*\n[\d-]{10} \d\d:\d\dZ {2}other +proj_.* linked nowhere here\n$/,
  );
});

scenario("a folder that is gone is marked as such, with and without a daemon", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("gone-folder"));
  const other = await lab.git.repository("other", { "README.md": "other" });
  await machine.up();
  await machine.memsync("link", other);
  await rm(other, { recursive: true });
  const expectMarked = async () => {
    const { status, stdout, stderr } = await machine.run(["projects"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^other +proj_\\S+ +${other} {3}\\(gone\\)$`, "m"));
    expect(stdout.match(/gone\)/g)).toHaveLength(1);
    expect(stderr).toContain("`memsync unlink DIR` forgets it");
    const listed = JSON.parse(await machine.memsync("projects", "--json")) as {
      folders: { dir: string; gone: boolean }[];
    }[];
    const folders = listed.flatMap((each) => each.folders);
    expect(folders.filter(({ gone }) => gone).map(({ dir }) => dir)).toEqual([other]);
  };
  await expectMarked();
  await machine.down();
  await expectMarked();
  expect((await machine.run(["status"])).stdout).toContain("/other   is gone\n");
});

scenario("outside of all projects the user's and the account's memories are read", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  await machine.memsync("set", "mine", "one", "--layer", "user");
  await machine.memsync("set", "ours", "two", "--layer", "global");
  expect(await machine.memsync("get", "mine")).toBe("one");
  expect(await machine.memsync("get", "ours")).toBe("two");
  expect(await machine.list()).toMatchObject([{ key: "mine" }, { key: "ours" }]);
  expect(await machine.memsync("search", "two")).toContain("ours");
  expect(await machine.memsync("history", "mine")).toContain("one");
  for (const [command = "", ...words] of [
    ["get", "other"],
    ["search", "three"],
    ["history", "x"],
  ]) {
    const { status, stdout, stderr } = await machine.run([command, ...words]);
    expect([command, status, stdout]).toEqual([command, 1, ""]);
    expect(stderr).toContain("is not linked: run `memsync up`");
  }
  const named = await machine.run(["get", "mine", "--layer", "project"]);
  expect([named.status, named.stdout]).toEqual([1, ""]);
});

scenario("a long list or text comes out whole through a pipe", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("long"));
  const value = "long ".repeat(6000);
  for (let i = 0; i < 5; i++) await machine.memsyncWith({ stdin: value }, "set", `key-${i}`, "-");
  expect((await machine.list()).every((memory) => memory.value === value)).toBe(true);
  const script = `${MEMSYNC.map((word) => `'${word}'`).join(" ")} list --json | wc -c`;
  const { stdout } = await machine.spawnOther(["sh", "-c", script]).ended();
  expect(Number(stdout)).toBeGreaterThan(5 * value.length);
});

scenario("many commands at once without a daemon lose nothing", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("at-once"));
  const keys = Array.from({ length: 12 }, (_, i) => `key-${i}`);
  await Promise.all(keys.map((key) => machine.memsync("set", key, key)));
  expect((await machine.list()).map(({ key }) => key).sort()).toEqual(keys.sort());
});
