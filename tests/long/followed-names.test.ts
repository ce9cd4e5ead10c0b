import { expect } from "bun:test";
import { lstat, mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const TEXT = "# Guide\n\nBuild with make.\n\nTest with make test.\n";

async function startBoth(lab: Lab, account: string): Promise<readonly [Machine, Machine]> {
  const [a, b] = await lab.twoMachines(emulator.account(account), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  return [a, b];
}

async function untilFile(machine: Machine, text: string, name = "CLAUDE.md"): Promise<void> {
  await waitFor(`${machine.name}'s ${name} to be ${JSON.stringify(text)}`, async () => {
    return (await readFile(join(machine.folder, name), "utf8").catch(() => "")) === text;
  });
}

scenario("a file that a link leads to is watched and written where it is", async (lab) => {
  const [a, b] = await startBoth(lab, "led");
  await mkdir(join(a.folder, "docs"));
  await writeFile(join(a.folder, "docs/guide.md"), TEXT);
  await symlink("docs/guide.md", join(a.folder, "CLAUDE.md"));
  await waitFor("a to follow it", async () => (await a.fileStatus())?.path === "docs/guide.md");
  await b.untilSynced();
  await writeFile(join(b.folder, "CLAUDE.md"), TEXT);
  await b.untilSynced();
  await writeFile(join(a.folder, "docs/guide.md"), `${TEXT}\nOf a.\n`);
  await untilFile(b, `${TEXT}\nOf a.\n`);
  await writeFile(join(b.folder, "CLAUDE.md"), `Of b.\n\n${TEXT}\nOf a.\n`);
  await untilFile(a, `Of b.\n\n${TEXT}\nOf a.\n`, "docs/guide.md");
  expect((await lstat(join(a.folder, "CLAUDE.md"))).isSymbolicLink()).toBe(true);
});

scenario(
  "`status` says which of several files counts, and one command changes that",
  async (lab) => {
    const [a, b] = await startBoth(lab, "several");
    await writeFile(join(a.folder, "AGENTS.md"), TEXT);
    await a.untilSynced();
    await writeFile(join(b.folder, "CLAUDE.md"), TEXT);
    await writeFile(join(a.folder, "CLAUDE.md"), "See AGENTS.md.\n\nAsk first.\n");
    await waitFor("the second file to be seen", async () => {
      return (await a.fileStatus())?.beside.join() === "CLAUDE.md";
    });
    expect(await a.fileStatus()).toMatchObject({ path: "AGENTS.md", state: "followed" });
    expect(await a.memsync("status")).toContain(
      "CLAUDE.md is there, too, and is not followed: `memsync link --file CLAUDE.md` follows it",
    );
    const wrong = await a.run(["link", "--file", "NOTES.md"]);
    expect([wrong.status, wrong.stdout]).toEqual([2, ""]);
    const missing = await a.run(["link", "--file", ".claude/CLAUDE.md"]);
    expect([missing.status, missing.stderr]).toEqual([
      1,
      `memsync: there is no .claude/CLAUDE.md in ${a.folder}\n`,
    ]);
    await a.memsync("link", "--file", "CLAUDE.md");
    await waitFor("the other file to count", async () => {
      return (await a.fileStatus())?.path === "CLAUDE.md";
    });
    await waitFor("both texts on b, with a conflict", async () => {
      const text = await readFile(join(b.folder, "CLAUDE.md"), "utf8");
      const conflicts = JSON.parse(await b.memsync("conflicts", "--json"));
      const isBoth = text.includes("Ask first.") && text.includes("Build with make.");
      return isBoth && conflicts.length === 1;
    });
    expect(await readFile(join(a.folder, "AGENTS.md"), "utf8")).toBe(TEXT);
    await a.down();
    await a.up();
    expect(await a.fileStatus()).toMatchObject({ path: "CLAUDE.md", beside: ["AGENTS.md"] });
  },
);

scenario("a file that is renamed and edited at once stays followed", async (lab) => {
  const [a, b] = await startBoth(lab, "renamed");
  await writeFile(join(a.folder, "CLAUDE.md"), TEXT);
  await a.untilSynced();
  await writeFile(join(b.folder, "CLAUDE.md"), TEXT);
  await b.untilSynced();
  await rename(join(a.folder, "CLAUDE.md"), join(a.folder, "AGENTS.md"));
  await writeFile(join(a.folder, "AGENTS.md"), `${TEXT}\nOf a.\n`);
  await untilFile(b, `${TEXT}\nOf a.\n`);
  expect(await a.fileStatus()).toMatchObject({ path: "AGENTS.md", state: "followed", beside: [] });
  await writeFile(join(b.folder, "CLAUDE.md"), `Of b.\n\n${TEXT}\nOf a.\n`);
  await untilFile(a, `Of b.\n\n${TEXT}\nOf a.\n`, "AGENTS.md");
  expect(JSON.parse(await a.memsync("conflicts", "--json"))).toEqual([]);
});

scenario("a missing file is written under the name that the others use", async (lab) => {
  const [a, b] = await startBoth(lab, "named");
  await writeFile(join(a.folder, "AGENTS.md"), TEXT);
  await a.untilSynced();
  await waitFor("b to know of it", async () => (await b.fileStatus())?.path === "AGENTS.md");
  await b.memsync("doc", "write");
  await untilFile(b, TEXT, "AGENTS.md");
  await expect(lstat(join(b.folder, "CLAUDE.md"))).rejects.toThrow();
});
