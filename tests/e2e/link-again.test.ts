import { expect } from "bun:test";
import { appendFile, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

/** A machine whose folder is in no repository, was linked, and is not linked any more. */
async function unlinked(lab: Lab, account: string): Promise<readonly [Machine, string]> {
  const folder = lab.git.path("notes");
  await mkdir(folder, { recursive: true });
  const machine = lab.machine("a", folder, emulator.account(account));
  await machine.up();
  await machine.memsync("set", "deploy", "push the tag");
  const { id } = await machine.projectOf();
  await machine.memsync("unlink");
  return [machine, id];
}

const inOneLine = (text: string) => text.replace(/\s+/g, " ");

scenario("a folder that is linked again has its former project again", async (lab) => {
  const [machine, id] = await unlinked(lab, "again");
  const { stdout, stderr } = await machine.run(["link"]);
  expect(inOneLine(stdout)).toContain(`linked ${machine.folder} to notes (${id})`);
  expect(inOneLine(stderr)).toContain(`has its former project again: notes (${id})`);
  expect(await machine.memsync("get", "deploy")).toBe("push the tag");
  // Linking what is linked says nothing of the past.
  expect((await machine.run(["link"])).stderr).not.toContain("former");
});

scenario("a folder whose .git is gone is followed without git by the first link", async (lab) => {
  const folder = await lab.git.repository("was-git", { ".gitignore": "CLAUDE.md\n" });
  await lab.git.write(join(folder, "CLAUDE.md"), "# Notes\n");
  const machine = lab.machine("a", folder, emulator.account("was-git"));
  await machine.up();
  await machine.memsync("unlink");
  await rm(join(folder, ".git"), { recursive: true });
  const { stderr } = await machine.run(["link"]);
  expect(inOneLine(stderr)).not.toContain("is not followed");
  expect((await machine.fileStatus())?.state).toBe("followed");
});

scenario("`start` and `up` say so, too, wherever the folder is now", async (lab) => {
  const [machine, id] = await unlinked(lab, "again-up");
  const moved = lab.git.path("moved");
  await rename(machine.folder, moved);
  for (const command of [
    ["start", moved],
    ["up", moved],
  ]) {
    const { stderr } = await machine.run(command, { cwd: moved });
    expect(inOneLine(stderr)).toContain(`${moved} has its former project again: notes (${id})`);
    await machine.memsyncWith({ cwd: moved }, "unlink");
  }
});

scenario("where something else says which project it is, the former one is named", async (lab) => {
  const [machine, id] = await unlinked(lab, "other");
  const again = `\`memsync link ${machine.folder} --id ${id}\``;
  const named = `was linked to another project before, notes (${id}): ${again}`;
  // Another folder at the same path.
  await rename(machine.folder, `${machine.folder}-kept`);
  await mkdir(machine.folder);
  const other = await machine.run(["link"]);
  expect(inOneLine(other.stderr)).toContain(named);
  expect((await machine.projectOf()).id).not.toBe(id);
  await machine.memsync("unlink");
  await rm(machine.folder, { recursive: true });
  await rename(`${machine.folder}-kept`, machine.folder);
  // The same folder, which is a repository with a commit now.
  await lab.git.run(machine.folder, "init", "-q");
  await lab.git.write(`${machine.folder}/README.md`, "notes");
  await lab.git.run(machine.folder, "add", ".");
  await lab.git.run(machine.folder, "commit", "-qm", "notes");
  expect(inOneLine((await machine.run(["link"])).stderr)).toContain(named);
});

scenario("a project that was deleted meanwhile is not named", async (lab) => {
  const [machine, id] = await unlinked(lab, "deleted");
  await machine.memsync("project", "rm", id, "--yes");
  const { stdout, stderr } = await machine.run(["link"]);
  expect(stdout + stderr).not.toContain(id);
});

scenario("consent for a clone made anew tells what was never committed, and comes", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("anew"), { "CLAUDE.md": "# Guide\n" });
  await Promise.all([a.up(), b.up()]);
  const consented = await a.run(["link", "--write"]);
  expect(consented.stderr).not.toContain("that it lacks");
  await appendFile(join(b.folder, "CLAUDE.md"), "\nOf b.\n");
  const file = join(a.folder, "CLAUDE.md");
  const isWritten = async () => (await readFile(file, "utf8")).includes("Of b.");
  await waitFor("the line to be written", isWritten);
  await rm(a.folder, { recursive: true });
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
  await waitFor("the clone to be followed", async () => {
    return (await a.fileStatus())?.state === "upwards";
  });
  const { stderr } = await a.run(["link", "--write"]);
  expect(inOneLine(stderr)).toContain("has 1 line that CLAUDE.md lacks: `Of b.`");
  expect(inOneLine(stderr)).toContain("`git diff CLAUDE.md` shows it");
  await waitFor("the line to be written again", isWritten);
});
