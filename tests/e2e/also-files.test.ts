import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const TEXT = "# Guide\n\nBuild with make.\n\nTest with make test.\n";
const COPILOT = join(".github", "copilot-instructions.md");

function read({ folder }: Machine, name: string): string | undefined {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

async function until(machine: Machine, name: string, text: string): Promise<void> {
  await waitFor(`${name} of ${machine.name}`, () => read(machine, name) === text);
}

scenario("several instruction files have one text, on two machines", async (lab) => {
  const service = emulator.account("also");
  const files = { ".gitignore": "*.md\n!README.md\n", "README.md": "" };
  const [a, b] = await lab.twoMachines(service, files);
  writeFileSync(join(a.folder, "CLAUDE.md"), TEXT);
  writeFileSync(join(a.folder, "GEMINI.md"), `${TEXT}\nOf Gemini.\n`);
  await a.up();
  await b.up();
  await a.untilSynced();
  await until(b, "CLAUDE.md", TEXT);
  // Nothing of it before somebody says so.
  expect(read(a, "GEMINI.md")).toBe(`${TEXT}\nOf Gemini.\n`);
  expect(await a.memsync("link", "--also", "GEMINI.md")).toContain("linked");
  const both = `${TEXT}\nOf Gemini.\n`;
  await until(a, "CLAUDE.md", both);
  await until(b, "CLAUDE.md", both);
  expect(read(b, "GEMINI.md")).toBeUndefined();
  expect(await a.memsync("status")).toContain("GEMINI.md");

  mkdirSync(join(b.folder, ".github"));
  await b.memsync("link", "--also", "GEMINI.md", "--also", COPILOT);
  await until(b, COPILOT, both);
  await until(b, "GEMINI.md", both);
  // A line that is changed right after it came would be a conflict, as in any followed file.
  const edited = `${both}\nOf Copilot.\n`;
  writeFileSync(join(b.folder, COPILOT), edited);
  for (const name of ["CLAUDE.md", "GEMINI.md"]) {
    await until(b, name, edited);
    await until(a, name, edited);
  }

  await b.down();
  await b.up();
  const later = `${edited}\nOf a.\n`;
  writeFileSync(join(a.folder, "GEMINI.md"), later);
  for (const name of ["CLAUDE.md", "GEMINI.md", COPILOT]) await until(b, name, later);
  await b.memsync("link", "--no-also");
  const last = `${later}\nOf a again.\n`;
  writeFileSync(join(a.folder, "CLAUDE.md"), last);
  await until(b, "CLAUDE.md", last);
  expect(read(b, "GEMINI.md")).toBe(later);
  expect((await b.fileStatus())?.also).toEqual([]);
});

scenario(
  "a further file that is gone is brought back by the command that status names",
  async (lab) => {
    const machine = await lab.stoppedMachine(emulator.account("also-gone"));
    writeFileSync(join(machine.folder, "CLAUDE.md"), TEXT);
    writeFileSync(join(machine.folder, "GEMINI.md"), TEXT);
    await machine.up();
    await machine.memsync("link", "--also", "GEMINI.md");
    await machine.untilSynced();
    rmSync(join(machine.folder, "GEMINI.md"));
    await waitFor("the file to be gone", async () => {
      return /GEMINI.md +is gone/.test(await machine.memsync("status"));
    });
    expect(await machine.memsync("doc", "write")).toBe(
      `wrote ${join(machine.folder, "GEMINI.md")}\n`,
    );
    await until(machine, "GEMINI.md", TEXT);
    const again = await machine.run(["doc", "write"]);
    expect(again.stderr).toContain("GEMINI.md have text already: they are followed");
  },
);

scenario("a file that would hide another one is refused", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("also-refused"));
  const refused = await machine.run(["link", "--also", "CLAUDE.md"]);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain("--also is AGENTS.md, GEMINI.md or");
  expect((await machine.run(["link", "--also", "GEMINI.md", "--no-also"])).status).toBe(2);
});

scenario(
  "a file that only imports another one is not said to have the text itself",
  async (lab) => {
    const machine = await lab.stoppedMachine(emulator.account("also-imports"));
    const put = (name: string, text: string) => writeFileSync(join(machine.folder, name), text);
    put("AGENTS.md", TEXT);
    put("CLAUDE.md", "@AGENTS.md\n");
    put("GEMINI.md", "@AGENTS.md\n");
    mkdirSync(join(machine.folder, ".claude"));
    put(".claude/CLAUDE.md", "@../AGENTS.md\n");
    await machine.up();
    await waitFor("the text", async () => (await machine.memsync("doc")) === TEXT);
    for (const name of ["CLAUDE.md", ".claude/CLAUDE.md"]) {
      const { status, stdout, stderr } = await machine.run(["link", "--file", name]);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr.replaceAll(/\s+/g, " ")).toContain(
        `${name} only imports AGENTS.md, and has its text so: nothing was changed. ` +
          "`memsync link --file AGENTS.md` follows that one",
      );
    }
    const also = (await machine.run(["link", "--also", "GEMINI.md"])).stderr;
    expect(also).toContain(
      "GEMINI.md is left as it is: it only imports another one, and has its text so",
    );
    expect(also).not.toContain("one from now on");
    const taken = await machine.run(["link", "--file", "AGENTS.md"]);
    expect(taken.stderr).toContain("AGENTS.md and the project's text are one from now on");
    // The file that counted so far still does.
    put("AGENTS.md", `${TEXT}More.\n`);
    await waitFor("the edit", async () => (await machine.memsync("doc")) === `${TEXT}More.\n`);
    expect(read(machine, "CLAUDE.md")).toBe("@AGENTS.md\n");
    // An import with lines of its own is no copy of the text either, nor is what the text imports.
    put("GEMINI.md", "@AGENTS.md\n\nOf Gemini.\n");
    const more = (await machine.run(["link", "--also", "GEMINI.md"])).stderr;
    expect(more).toContain("GEMINI.md is left as it is: it imports AGENTS.md and has lines of");
    expect(more).not.toContain("one from now on");
    await machine.memsync("link", "--no-also");
    put("AGENTS.md", `${TEXT}\n@GEMINI.md\n`);
    put("GEMINI.md", "Of Gemini.\n");
    await waitFor("the import", async () => (await machine.memsync("doc")).includes("@GEMINI.md"));
    const imported = (await machine.run(["link", "--also", "GEMINI.md"])).stderr;
    expect(imported).toContain("GEMINI.md is left as it is: it is imported by the project's text");
    expect(imported).not.toContain("one from now on");
  },
);
