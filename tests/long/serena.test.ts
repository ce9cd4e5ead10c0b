import { expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import { type Machine, type ServiceConfig, SOURCES } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const KILL = join(import.meta.dir, "..", "support", "kill-after-write.ts");

/** A machine with Serena's files in a project, and in a folder of the person. */
class SerenaMachine {
  constructor(
    readonly machine: Machine,
    readonly home: string,
  ) {}

  get memories(): string {
    return join(this.machine.folder, ".serena", "memories");
  }

  get global(): string {
    return join(this.home, "memories", "global");
  }

  save(name: string, text: string, folder = this.memories): void {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }

  read(name: string, folder = this.memories): string | undefined {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  async until(name: string, text: string, folder = this.memories): Promise<void> {
    await waitFor(`${name} of ${this.machine.name}`, () => this.read(name, folder) === text);
  }

  async untilKept(key: string, isThere: (value: string) => boolean): Promise<void> {
    await waitFor(`${key} of ${this.machine.name}`, async () => {
      const found = (await this.machine.list()).find((each) => each.key === key);
      return isThere(found?.value ?? "");
    });
  }

  async untilStatus(isSo: (status: string) => boolean): Promise<void> {
    await waitFor(`the status of ${this.machine.name}`, async () =>
      isSo(await this.machine.memsync("status")),
    );
  }
}

async function twoMachines(lab: Lab, services: readonly ServiceConfig[], gitignore: string) {
  const clones = await lab.clones({ ".gitignore": gitignore });
  return (["a", "b"] as const).map((name, at) => {
    const service = services[at] ?? services[0];
    const machine = lab.machine(name, clones[at] ?? "", service);
    const home = join(lab.git.folder, `serena-${name}`);
    mkdirSync(home);
    machine.variables = { SERENA_HOME: home };
    return new SerenaMachine(machine, home);
  }) as [SerenaMachine, SerenaMachine];
}

scenario(
  "Serena's memories are on the other machine, the person's in every project",
  async (lab) => {
    const [a, b] = await twoMachines(lab, [emulator.account("serena")], ".serena/\n");
    a.save("core.md", "# Core\n");
    a.save("lsp/clangd.md", "# clangd, see `mem:core`\n");
    a.save("style.md", "# Style\n", a.global);
    await a.machine.up();
    await b.machine.up();
    // Nothing is done with it before somebody says so.
    expect(await a.machine.memsync("serena")).toContain("Serena's memories are off");
    await a.machine.syncOnce();
    expect(await a.machine.list()).toEqual([]);
    expect(await a.machine.memsync("preview", "--json")).toContain("`memsync serena on` reads it");
    a.save("private.md", "mine\n");
    a.save("CON.md", "no file on Windows\n");
    writeFileSync(join(a.machine.folder, ".memsyncignore"), "serena/private.md\n");
    const on = await a.machine.memsync("serena", "on");
    expect(on).toContain("3 files here");
    expect(on).toContain("2 files are ignored or left alone: `memsync serena` says which");
    expect(await b.machine.memsync("serena", "on", "--write")).toContain("0 files here");
    await b.until("core.md", "# Core\n");
    await b.until("lsp/clangd.md", "# clangd, see `mem:core`\n");
    await b.until("style.md", "# Style\n", b.global);
    expect(readdirSync(b.memories).sort()).toEqual(["core.md", "lsp"]);
    expect(await b.machine.memsync("get", "serena/lsp/clangd.md")).toContain("see `mem:core`");
    const layers = (await b.machine.list()).map(({ key, layer }) => `${layer} ${key}`).sort();
    expect(layers).toEqual([
      "project serena/core.md",
      "project serena/lsp/clangd.md",
      "user serena/global/style.md",
    ]);
    await b.untilStatus((status) => status.includes("2 files, read and written"));
    b.save("core.md", "# Core of b\n");
    await a.untilKept("serena/core.md", (value) => value === "# Core of b\n");
    // What was only to be read is not written.
    expect(a.read("core.md")).toBe("# Core\n");
  },
);

scenario(
  "a memory that two machines edit apart keeps both edits, also after kills",
  async (lab) => {
    const service = emulator.account("serena-apart");
    const network = await lab.network(service);
    const [a, b] = await twoMachines(lab, [service, network], ".serena/\n");
    for (const { machine } of [a, b]) {
      await machine.up();
      await machine.memsync("serena", "on", "--write");
    }
    const text = Array.from({ length: 20 }, (_, at) => `line ${at}\n`);
    a.save("core.md", text.join(""));
    await b.until("core.md", text.join(""));
    network.cut();
    await b.machine.down("SIGKILL");
    b.save("core.md", ["of b\n", ...text].join(""));
    a.save("core.md", [...text, "of a\n"].join(""));
    await a.untilKept("serena/core.md", (value) => value.includes("of a"));
    await a.machine.down("SIGKILL");
    await a.machine.up();
    network.restore();
    await b.machine.up();
    const both = ["of b\n", ...text, "of a\n"].join("");
    const isWhole = async (each: SerenaMachine) => {
      const found = (await each.machine.list()).find(({ key }) => key === "serena/core.md");
      if (found?.value === both && each.read("core.md") === both) return true;
      // Else they came as versions beside each other, and both are shown.
      const conflicts = await each.machine.memsync("conflicts", "--json");
      const shown = `${found?.value ?? ""}${conflicts}`;
      return (
        shown.includes("of a") && shown.includes("of b") && each.read("core.md") === found?.value
      );
    };
    for (const each of [a, b])
      await waitFor(`both edits on ${each.machine.name}`, () => isWhole(each));
  },
);

scenario("a kill between a write and its note makes no edit of what was written", async (lab) => {
  const [a, b] = await twoMachines(lab, [emulator.account("serena-killed")], ".serena/\n");
  for (const { machine } of [a, b]) {
    await machine.up();
    await machine.memsync("serena", "on", "--write");
  }
  a.save("lsp/core.md", "one\n");
  await b.until("lsp/core.md", "one\n");
  await a.machine.down();
  const [runtime, program] = SOURCES;
  const dying = a.machine.spawnOther([runtime, "--preload", KILL, program, "up"], {});
  await dying.untilPrinted(/memsync is up/);
  b.save("lsp/core.md", "two\n");
  await dying.ended();
  expect(a.read("lsp/core.md")).toBe("two\n");
  b.save("lsp/core.md", "three\n");
  await b.untilKept("serena/lsp/core.md", (value) => value === "three\n");
  await a.machine.up();
  await a.until("lsp/core.md", "three\n");
  for (const { machine } of [a, b]) {
    expect(JSON.parse(await machine.memsync("conflicts", "--json"))).toEqual([]);
  }
  expect(b.read("lsp/core.md")).toBe("three\n");
});

scenario("a purged folder deletes nothing, and one command brings it back", async (lab) => {
  const [a, b] = await twoMachines(lab, [emulator.account("serena-purged")], ".serena/\n");
  const names = ["core.md", "lsp/clangd.md", "lsp/pyright.md"];
  for (const name of names) a.save(name, `${name}\n`);
  for (const { machine } of [a, b]) {
    await machine.up();
    await machine.memsync("serena", "on", "--write");
  }
  for (const name of names) await b.until(name, `${name}\n`);
  rmSync(a.memories, { recursive: true });
  await a.untilStatus((status) => status.includes("3 files missing here"));
  for (const name of names) expect(b.read(name)).toBe(`${name}\n`);
  await a.machine.memsync("serena", "restore");
  for (const name of names) await a.until(name, `${name}\n`);
  rmSync(join(a.memories, "core.md"));
  await a.untilStatus((status) => status.includes("1 file missing here"));
  await a.machine.memsync("serena", "delete", "core.md", "--yes");
  await b.untilKept("serena/core.md", (value) => value === "");
  expect(b.read("core.md")).toBe("core.md\n");
  rmSync(join(a.memories, "lsp", "clangd.md"));
  await a.untilStatus((status) => status.includes("1 file missing here"));
  // As Serena calls it.
  await a.machine.memsync("serena", "delete", "lsp/clangd", "--yes");
  await b.untilKept("serena/lsp/clangd.md", (value) => value === "");
  expect(a.read("lsp/pyright.md")).toBe("lsp/pyright.md\n");
  const unknown = await a.machine.run(["serena", "delete", "lsp/clang", "--yes"]);
  expect([unknown.status, unknown.stderr]).toEqual([
    1,
    "memsync: nothing is asked about lsp/clang\n",
  ]);
});

scenario(
  "of two names that are one on some systems restore says which does not come",
  async (lab) => {
    const [a] = await twoMachines(lab, [emulator.account("serena-case")], ".serena/\n");
    const names = ["Foo.md", "core.md", "foo.md"];
    for (const name of names) a.save(name, `${name}\n`);
    // A disk that takes the two for one has nothing to ask about.
    if (a.read("Foo.md") !== "Foo.md\n") return;
    await a.machine.up();
    await a.machine.memsync("serena", "on", "--write");
    for (const name of names) await a.untilKept(`serena/${name}`, (value) => value === `${name}\n`);
    rmSync(a.memories, { recursive: true });
    await a.untilStatus((status) => status.includes("3 files missing here"));
    for (const said of ["the daemon brings back 2 files", ""]) {
      const { status, stdout, stderr } = await a.machine.run(["serena", "restore"]);
      expect([status, stdout.trim()]).toEqual([1, said]);
      expect(stderr).toContain(
        "not brought back, for on some systems foo.md has the name of Foo.md",
      );
      for (const name of ["Foo.md", "core.md"]) await a.until(name, `${name}\n`);
      await a.untilStatus((status) => status.includes("1 file missing here"));
    }
    expect(await a.machine.memsync("get", "serena/foo.md")).toBe("foo.md\n");
    rmSync(join(a.memories, "Foo.md"));
    await a.untilStatus((status) => status.includes("2 files missing here"));
    await a.machine.memsync("serena", "delete", "Foo.md", "--yes");
    await a.untilStatus((status) => status.includes("1 file missing here"));
    await a.machine.memsync("serena", "restore");
    await a.until("foo.md", "foo.md\n");
  },
);

scenario("a branch that is checked out takes no memory away, and brings none", async (lab) => {
  const [a, b] = await twoMachines(lab, [emulator.account("serena-branch")], "node_modules\n");
  const git = (...args: string[]) => lab.git.run(a.machine.folder, ...args);
  const names = Array.from({ length: 12 }, (_, at) => `m${at}.md`);
  await git("checkout", "-q", "-b", "bare");
  await git("checkout", "-q", "-");
  for (const name of names) a.save(name, `${name}\n`);
  await git("add", "-A");
  await git("commit", "-q", "-m", "memories");
  for (const { machine } of [a, b]) {
    await machine.up();
    await machine.memsync("serena", "on", "--write");
  }
  for (const name of names) await b.untilKept(`serena/${name}`, (value) => value === `${name}\n`);
  // git does not know these there, and would show them.
  expect(existsSync(b.memories)).toBe(false);
  await git("checkout", "-q", "bare");
  expect(existsSync(a.memories)).toBe(false);
  await a.untilStatus((status) => status.includes("is left alone on bare"));
  a.save("m1.md", "of the branch\n");
  await git("add", "-A");
  await git("commit", "-q", "-m", "another");
  a.save("untracked.md", "untracked\n");
  await b.untilKept("serena/untracked.md", (value) => value === "untracked\n");
  rmSync(join(a.memories, "untracked.md"));
  await a.untilStatus((status) => status.includes("1 file missing here"));
  expect(await a.machine.memsync("get", "serena/m1.md")).toBe("m1.md\n");
  await git("checkout", "-q", "-");
  await a.untilStatus((status) => !status.includes("is left alone on"));
  a.save("m1.md", "edited on the default branch\n");
  await b.untilKept("serena/m1.md", (value) => value === "edited on the default branch\n");
  expect((await b.machine.list()).length).toBe(names.length + 1);
});
