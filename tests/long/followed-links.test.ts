import { expect } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const TEXT = "Use pnpm.\nKeep it small.\n";

const at = ({ folder }: Machine, name: string) => join(folder, name);
const textOf = async (machine: Machine) => await machine.doc((await machine.projectOf()).id);

for (const [target, code] of [
  [".env", "link-to-other"],
  ["build/tool.md", "link-to-program"],
  ["notes.md", "link-to-ignored"],
] as const) {
  scenario(
    `a cloned link does not have an ignored file sent or written: ${target}`,
    async (lab) => {
      const service = emulator.account(`cloned-${code}`);
      const ignored = ".env\nbuild/\nnotes.md\n";
      const [a, b] = await lab.twoMachines(service, { ".gitignore": ignored });
      for (const { folder } of [a, b]) symlinkSync(target, join(folder, "CLAUDE.md"));
      for (const { folder } of [a, b]) await lab.git.run(folder, "add", "CLAUDE.md");
      mkdirSync(dirname(at(a, target)), { recursive: true });
      writeFileSync(at(a, target), "#!/bin/sh\nKEY=a\n");
      if (code === "link-to-program") chmodSync(at(a, target), 0o755);
      await Promise.all([a.up(), b.up()]);
      await a.memsync("link", "--write");
      await b.memsync("link", "--write");
      await a.memsync("set", "one", "1");
      await a.sync();
      await b.sync();
      expect(await a.fileStatus()).toMatchObject({
        path: "CLAUDE.md",
        state: "left-alone",
        why: code,
      });
      expect(await a.memsync("status")).toContain("is a symbolic link");
      expect(await textOf(b)).toBe("");
      expect(existsSync(at(b, target))).toBe(false);
      // Another machine's text, written by the interface, is written into neither.
      const { id } = await b.projectOf();
      await b.ask("POST", `/api/projects/${id}/sync`, { claude_md_content: "# Others'\n" });
      await b.sync();
      await a.sync();
      await waitFor("the text on a", async () => (await textOf(a)) === "# Others'\n");
      expect(readFileSync(at(a, target), "utf8")).toBe("#!/bin/sh\nKEY=a\n");
      expect((statSync(at(a, target)).mode & 0o100) !== 0).toBe(code === "link-to-program");
      expect(existsSync(at(b, target))).toBe(false);
    },
  );
}

scenario("a link that is deleted shares its former target no more", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("unlinked"), { "README.md": "" });
  writeFileSync(at(a, "notes.md"), TEXT);
  symlinkSync("notes.md", at(a, "CLAUDE.md"));
  await Promise.all([a.up(), b.up()]);
  await a.untilSynced();
  rmSync(at(a, "CLAUDE.md"));
  await waitFor("the file to be missed", async () => (await a.fileStatus())?.why === "gone");
  appendFileSync(at(a, "notes.md"), "my diary\n");
  await a.sync();
  expect(await textOf(a)).toBe(TEXT);
  const said = (await a.memsync("status")).replace(/\s+/g, " ");
  expect(said).toContain("CLAUDE.md is gone, which deletes nothing elsewhere");
  expect(said).toContain("`memsync doc write` gets it back");
  expect(said).toContain("`memsync doc clear` deletes the text on every machine");
  expect(said).not.toContain("notes.md");
  await a.down();
  await a.up();
  appendFileSync(at(a, "notes.md"), "more of it\n");
  await a.sync();
  await b.sync();
  expect(await textOf(b)).toBe(TEXT);
  await a.memsync("doc", "write");
  await waitFor("a file of its own", async () => {
    return existsSync(at(a, "CLAUDE.md")) && readFileSync(at(a, "CLAUDE.md"), "utf8") === TEXT;
  });
  expect(readFileSync(at(a, "notes.md"), "utf8")).toBe(`${TEXT}my diary\nmore of it\n`);
});

scenario("a save by a rename over a link to AGENTS.md is an edit of the text", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("renamed-over"), { "README.md": "" });
  writeFileSync(at(a, "AGENTS.md"), TEXT);
  symlinkSync("AGENTS.md", at(a, "CLAUDE.md"));
  await Promise.all([a.up(), b.up()]);
  await a.untilSynced();
  writeFileSync(at(a, "saved"), "Use bun.\nKeep it small.\n");
  renameSync(at(a, "saved"), at(a, "CLAUDE.md"));
  appendFileSync(at(a, "CLAUDE.md"), "Never deploy on friday.\n");
  const edited = "Use bun.\nKeep it small.\nNever deploy on friday.\n";
  await waitFor("the save to be taken", async () => (await textOf(a)) === edited);
  await a.sync();
  await b.sync();
  expect(await textOf(b)).toBe(edited);
  expect(await a.fileStatus()).toMatchObject({ path: "CLAUDE.md", beside: ["AGENTS.md"] });
  expect((await a.memsync("status")).replace(/\s+/g, " ")).toContain(
    "AGENTS.md is there, too, and is not followed",
  );
  expect(readFileSync(at(a, "AGENTS.md"), "utf8")).toBe(TEXT);
  expect(JSON.parse(await a.memsync("conflicts", "--json"))).toEqual([]);
});

scenario("`doc write` makes a link's target, and says why it makes none", async (lab) => {
  const [a] = await lab.twoMachines(emulator.account("dangling"), { "README.md": "" });
  writeFileSync(at(a, "notes.md"), TEXT);
  symlinkSync("notes.md", at(a, "CLAUDE.md"));
  await a.up();
  await a.untilSynced();
  const turn = (target: string) => {
    rmSync(at(a, "CLAUDE.md"));
    symlinkSync(target, at(a, "CLAUDE.md"));
  };
  const said = async (...args: string[]) => {
    const { status, stderr } = await a.run(args);
    return [status, stderr.replace(/\s+/g, " ")];
  };
  for (const [target, why] of [
    [".env", "is no instruction file by its name"],
    ["../outside.md", "is outside of this folder"],
    [".git/hooks/x.md", "is git's own"],
  ] as const) {
    turn(target);
    expect(await said("doc", "write")).toEqual([1, expect.stringContaining(why)]);
    expect(await said("doc", "diff")).toEqual([1, expect.stringContaining(why)]);
    expect(existsSync(at(a, target))).toBe(false);
  }
  turn("docs/new.md");
  expect(await a.memsync("doc", "write")).toContain("docs/new.md");
  expect(readFileSync(at(a, "docs/new.md"), "utf8")).toBe(TEXT);
  await waitFor("the target to be followed", async () => {
    const { path, state } = (await a.fileStatus()) ?? {};
    return path === "docs/new.md" && state === "followed";
  });
  expect(await textOf(a)).toBe(TEXT);
  expect(JSON.parse(await a.memsync("conflicts", "--json"))).toEqual([]);
});

scenario(
  "a link that git puts back after a save by a rename is written through again",
  async (lab) => {
    const files = { "notes.md": TEXT };
    const [a, b] = await lab.twoMachines(emulator.account("link-back"), files);
    for (const { folder } of [a, b]) {
      symlinkSync("notes.md", join(folder, "CLAUDE.md"));
      await lab.git.run(folder, "add", "CLAUDE.md");
      await lab.git.run(folder, "commit", "-q", "-m", "link");
    }
    await Promise.all([a.up(), b.up()]);
    for (const each of [a, b]) await each.memsync("link", "--write");
    await a.untilSynced();
    writeFileSync(at(a, "saved"), TEXT.replace("pnpm", "bun"));
    renameSync(at(a, "saved"), at(a, "CLAUDE.md"));
    await waitFor("the save to be taken", async () => (await textOf(a)).includes("bun"));
    await lab.git.run(a.folder, "checkout", "-q", "--", "CLAUDE.md");
    await a.sync();
    await b.sync();
    await waitFor("the save on b", async () =>
      readFileSync(at(b, "notes.md"), "utf8").includes("bun"),
    );
    appendFileSync(at(b, "notes.md"), "Of b.\n");
    await waitFor("the line of b to be taken", async () => (await textOf(b)).includes("Of b."));
    await b.sync();
    await a.sync();
    const all = `${TEXT.replace("pnpm", "bun")}Of b.\n`;
    await waitFor(
      "the line of b on a",
      async () => readFileSync(at(a, "notes.md"), "utf8") === all,
    );
    expect(await a.memsync("sync")).toContain("everything is synced");
    expect(await a.fileStatus()).toMatchObject({ path: "notes.md", beside: [] });
  },
);
