import { expect } from "bun:test";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { scenarioOnDisk as scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const SAVES = 5;

type Save = (path: string, content: string) => Promise<void>;

/** The ways in which editors save, and what is known to save so. */
const WAYS: Readonly<Record<string, Save>> = {
  "in place": writeFile,
  "by atomic rename": async (path, content) => {
    await writeFile(`${path}.tmp`, content);
    await rename(`${path}.tmp`, path);
  },
  // Vim with `backupcopy=no`.
  "backup by rename, then a new file": async (path, content) => {
    await rename(path, `${path}~`);
    await writeFile(path, content);
    await rm(`${path}~`);
  },
  // Vim with `backupcopy=yes`.
  "backup by copy, then in place": async (path, content) => {
    await writeFile(`${path}~`, await readFile(path));
    await writeFile(path, content);
    await rm(`${path}~`);
  },
  "deleted and made again": async (path, content) => {
    await rm(path);
    await writeFile(path, content);
  },
};

async function untilDoc(machine: Machine, text: string): Promise<void> {
  const { id } = await machine.projectOf();
  await waitFor(`the document to be ${JSON.stringify(text)}`, async () => {
    return (await machine.doc(id)) === text;
  });
}

for (const [way, save] of Object.entries(WAYS)) {
  scenario(`saves ${way} reach the document and the other machine, all of them`, async (lab) => {
    const account = emulator.account(way.replaceAll(/\W/g, "-"));
    const [a, b] = await lab.twoMachines(account, { ".gitignore": `${FILE}*\n` });
    let text = "# Saved\n";
    await writeFile(`${a.folder}/${FILE}`, text);
    await Promise.all([a.up(), b.up()]);
    await untilDoc(b, text);
    for (let at = 0; at < SAVES; at++) {
      text += `\nsave ${at}\n`;
      await save(`${a.folder}/${FILE}`, text);
      if (at === 0) await untilDoc(a, text);
    }
    await untilDoc(a, text);
    await waitFor("the last save in b's file", async () => {
      return (await readFile(`${b.folder}/${FILE}`, "utf8")) === text;
    });
    expect(await readFile(`${a.folder}/${FILE}`, "utf8")).toBe(text);
    expect(await lab.git.run(b.folder, "status", "--porcelain")).toBe("");
  });
}

scenario("a folder that is reached through a symbolic link is the one behind it", async (lab) => {
  const folder = await lab.git.repository("real", { ".gitignore": FILE });
  await symlink(folder, lab.git.path("linked"));
  const machine = lab.machine("a", folder);
  await machine.up(lab.git.path("linked"));
  const { folders } = await machine.projectOf(folder);
  expect(folders.map(({ dir }) => dir)).toEqual([folder]);
  await writeFile(`${lab.git.path("linked")}/${FILE}`, "# Through the link\n");
  await untilDoc(machine, "# Through the link\n");
});

scenario("a file in a folder that is made later is heard of each time", async (lab) => {
  const folder = await lab.git.repository("later", { ".gitignore": ".claude" });
  const machine = lab.machine("a", folder);
  await machine.up();
  await mkdir(`${folder}/.claude`);
  for (const text of ["# One\n", "# One\n\ntwo\n", "# One\n\ntwo\n\nthree\n"]) {
    await writeFile(`${folder}/.claude/${FILE}`, text);
    await untilDoc(machine, text);
  }
});
