import { expect } from "bun:test";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slugOf } from "../../daemon/assistants/claude-code/memory-folders.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

interface Source {
  readonly source: string;
  readonly path: string;
  readonly state: string;
}

/** What a preview says of each source, as `path state`. */
async function sourcesOf(machine: Machine): Promise<string[]> {
  const all = JSON.parse(await machine.memsync("preview", "--json")) as { sources: Source[] }[];
  return all.flatMap(({ sources }) => sources.map(({ path, state }) => `${path} ${state}`)).sort();
}

function save({ folder }: Machine, name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

/** A file of Claude Code's auto memory; gives its folder's name to Claude Code. */
function remember(lab: Lab, machine: Machine, name: string, text: string): void {
  const config = lab.git.path(`claude-${machine.name}`);
  machine.variables = { CLAUDE_CONFIG_DIR: config };
  const slug = slugOf(realpathSync(machine.folder)) ?? "";
  mkdirSync(join(config, "projects", slug, "memory"), { recursive: true });
  writeFileSync(join(config, "projects", slug, "memory", name), text);
}

const inOneLine = (text: string) => text.replace(/\s+/g, " ");

async function why(machine: Machine): Promise<string | null> {
  return (await machine.fileStatus())?.why ?? null;
}

scenario(
  "what .memsyncignore names stays on its machine, from the moment it is saved",
  async (lab) => {
    const service = emulator.account("ignored");
    const [a, b] = await lab.twoMachines(service, { "README.md": "" });
    save(a, ".memsyncignore", "CLAUDE.md\nauto-memory/own.md\n");
    save(a, "CLAUDE.md", "# Of a alone\n");
    save(a, "CLAUDE.local.md", "never\n");
    remember(lab, a, "own.md", "mine\n");
    remember(lab, a, "ours.md", "ours\n");
    await a.memsync("auto-memory", "on");
    await a.up();
    await b.up();
    const { id } = await a.projectOf();
    expect(await why(a)).toBe("ignored");
    await a.sync();
    await b.sync();
    expect((await b.list()).map(({ key }) => key)).toEqual(["auto-memory/ours.md"]);
    expect(await b.doc(id)).toBe("");
    expect(await sourcesOf(a)).toEqual([
      "CLAUDE.md ignored",
      "auto-memory/ours.md sent",
      "auto-memory/own.md ignored",
    ]);
    const said = await a.memsync("preview");
    expect(said).toContain("CLAUDE.md           ignored, stays here");
    expect(said).toContain("nothing waits to be sent");

    // Others' text is not written over it, and what is not named any more is sent.
    await b.ask("POST", `/api/projects/${id}/sync`, { claude_md_content: "# Of b\n" });
    await b.sync();
    await a.sync();
    expect(readFileSync(join(a.folder, "CLAUDE.md"), "utf8")).toBe("# Of a alone\n");
    // The text is of others alone: nobody is told how to delete it.
    expect(await a.memsync("status")).not.toContain("memsync doc clear");
    save(a, ".memsyncignore", "*.txt\n");
    await waitFor("the file is followed again", async () => (await why(a)) !== "ignored-sent");
    await waitFor("both texts are in it", async () => {
      return (await a.doc(id)).includes("Of a alone");
    });
    await a.sync();
    await b.sync();
    expect(await b.doc(id)).toContain("# Of b");
    expect(await b.doc(id)).toContain("# Of a alone");
    expect((await b.list()).map(({ key }) => key)).toContain("auto-memory/own.md");
  },
);

scenario("without a daemon a preview says what it will not read", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("ignored-stopped"));
  save(machine, "CLAUDE.md", "# New\n");
  expect(await sourcesOf(machine)).toEqual(["CLAUDE.md new"]);
  save(machine, ".memsyncignore", "/CLAUDE.md\nsessions/\n");
  expect(await sourcesOf(machine)).toEqual(["CLAUDE.md ignored", "sessions/ ignored"]);
  expect(await machine.memsync("preview")).toContain("sessions/  ignored, stays here");
});

scenario("what a folder named is ignored after it is unlinked, too", async (lab) => {
  const service = emulator.account("ignored-unlinked");
  const [a] = await lab.twoMachines(service, { "README.md": "" });
  save(a, ".memsyncignore", "CLAUDE.md\nauto-memory/own.md\n");
  save(a, "CLAUDE.md", "# Of a alone\n");
  remember(lab, a, "own.md", "mine\n");
  await a.memsync("auto-memory", "on");
  await a.up();
  await a.sync();
  const { id } = await a.projectOf();
  rmSync(join(a.folder, ".memsyncignore"));
  const left = inOneLine((await a.run(["unlink"])).stderr);
  expect(left).toContain("stays on this machine (CLAUDE.md, auto-memory/own.md)");
  expect(left).toContain("`memsync link --send-ignored`");
  await a.memsync("link");
  await a.sync();
  expect(await sourcesOf(a)).toEqual(["CLAUDE.md ignored", "auto-memory/own.md ignored"]);
  expect([await a.doc(id), await a.list()]).toEqual(["", []]);
  const said = inOneLine(await a.memsync("status"));
  expect(said).toContain(`for ${join(a.folder, ".memsyncignore")} named it, which is gone`);
  expect(said).toContain("`memsync link --send-ignored`");
  const unasked = await a.run(["link", "--send-ignored"]);
  expect(unasked.status).toBe(1);
  expect(inOneLine(unasked.stderr)).toContain("Send what was named in .memsyncignore: CLAUDE.md, ");
  expect(await a.doc(id)).toBe("");
  await a.memsync("unlink");
  await a.memsync("link", "--send-ignored", "--yes");
  await waitFor("the text", async () => (await a.doc(id)) === "# Of a alone\n");
  await waitFor("the memory", async () => (await a.list()).length === 1);
  const none = await a.run(["link", "--send-ignored"]);
  expect([none.status, inOneLine(none.stderr)]).toEqual([
    1,
    expect.stringContaining("no .memsyncignore of this project is gone"),
  ]);
});

scenario("`unlink` says how many held writes stay here", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("unlinked-held"));
  await machine.up();
  await machine.memsync("set", "key", PLANTED.github);
  const { stderr } = await machine.run(["unlink"]);
  expect(inOneLine(stderr)).toContain("1 write of it is held here: `memsync held`");
});

scenario(
  "what a folder named is ignored in the project's others, whatever it is linked to next",
  async (lab) => {
    const [a] = await lab.twoMachines(emulator.account("ignored-relinked"), { "README.md": "" });
    remember(lab, a, "own.md", "mine\n");
    const two = lab.git.path("two");
    const third = lab.git.path("third");
    for (const dir of [two, third]) mkdirSync(dir);
    writeFileSync(join(two, ".memsyncignore"), "auto-memory/own.md\n");
    await a.up();
    const { id } = await a.projectOf();
    await a.memsync("link", two, "--id", id);
    await a.memsync("auto-memory", "on");
    await a.sync();
    const stays = async () => {
      await a.sync();
      expect([await sourcesOf(a), await a.list()]).toEqual([["auto-memory/own.md ignored"], []]);
    };
    await stays();
    await a.memsync("link", third);
    const other = (await a.projectOf(third)).id;
    await a.memsync("link", two, "--id", other, "--yes");
    await stays();
    rmSync(two, { recursive: true });
    await stays();
    mkdirSync(two);
    writeFileSync(join(two, ".memsyncignore"), "*.txt\n");
    await a.memsync("link", two, "--id", other);
    await stays();
    expect(await a.memsync("status")).toContain("memsync link --send-ignored");
    await a.memsync("unlink", two);
    await stays();
    writeFileSync(join(two, ".memsyncignore"), "");
    await waitFor("what it named", async () => (await a.list()).length === 1);
  },
);

scenario(
  "a line that is not clear lets nothing out, and is told wherever one looks",
  async (lab) => {
    const [a, b] = await lab.twoMachines(emulator.account("ignored-lines"), { "README.md": "" });
    save(a, "CLAUDE.md", "# Of a alone\n");
    save(a, ".memsyncignore", "CLAUDE.md # mine\n~/x/notes.md\n./other.md\n");
    await a.up();
    await b.up();
    const { id } = await a.projectOf();
    await a.sync();
    await b.sync();
    expect(await why(a)).toBe("ignored");
    expect(await b.doc(id)).toBe("");
    const status = JSON.parse(await a.memsync("status", "--json"));
    const told = status.ignore_lines.map(({ line, code }: { line: number; code: string }) => {
      return `${line} ${code}`;
    });
    expect(told).toEqual(["1 ignore-line-two-readings", "2 ignore-line-no-name"]);
    const first = 'line 1, "CLAUDE.md # mine", has two readings';
    expect(inOneLine(await a.memsync("status"))).toContain(first);
    expect(await a.memsync("sync")).toContain("2 lines of .memsyncignore are not clear");
    expect(inOneLine((await a.run(["preview"])).stderr)).toContain(first);
    expect(inOneLine((await a.run(["doctor"])).stdout)).toContain(first);
    await a.down();
    expect(inOneLine((await a.run(["status"])).stdout)).toContain(first);
    save(a, ".memsyncignore", "CLAUDE.md\n");
    expect((await a.run(["status"])).stdout).not.toContain("has two readings");
  },
);
