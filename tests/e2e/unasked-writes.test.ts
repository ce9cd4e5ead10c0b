import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const TEXT = "# Widget\n";

const fileOf = ({ folder }: Machine) => join(folder, FILE);
const shownByGit = (lab: Lab, { folder }: Machine) =>
  lab.git.run(folder, "status", "--porcelain", "--untracked-files=all");

scenario(
  "a missing file that git ignores is written unasked, and git shows nothing",
  async (lab) => {
    const [a, b] = await lab.twoMachines(emulator.account("ignored"), { ".gitignore": FILE });
    await lab.git.write(fileOf(a), TEXT);
    await Promise.all([a.up(), b.up()]);
    await waitFor("the file on b", () => existsSync(fileOf(b)));
    expect(readFileSync(fileOf(b), "utf8")).toBe(TEXT);
    for (const each of [a, b]) expect(await shownByGit(lab, each)).toBe("");
  },
);

scenario("a missing file that git would show is written by a yes alone", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("shown"), { "README.md": "" });
  await lab.git.write(fileOf(a), TEXT);
  await Promise.all([a.up(), b.up()]);
  await waitFor("b to have the text", async () => (await b.memsync("doc")) === TEXT);
  await b.untilSynced();
  expect((await b.fileStatus())?.why).toBe("missing");
  expect([existsSync(fileOf(b)), await shownByGit(lab, b)]).toEqual([false, ""]);
  await b.memsync("doc", "write");
  expect(await shownByGit(lab, b)).toBe(`?? ${FILE}\n`);
  await lab.git.write(fileOf(a), `${TEXT}more\n`);
  await waitFor("the change on b", () => readFileSync(fileOf(b), "utf8") === `${TEXT}more\n`);
  expect(await shownByGit(lab, b)).toBe(`?? ${FILE}\n`);
});
