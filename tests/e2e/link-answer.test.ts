import { expect } from "bun:test";
import { existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const TEXT = "# Guide\n\nBuild with make.\n";
const NOT_UTF8 = new Uint8Array([0x23, 0x20, 0xff, 0xfe, 0x0a]);
const inOneLine = (text: string) => text.replaceAll(/\s+/g, " ");

scenario("`link` says which file is not followed, and `sync` names it first", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("link-answer"));
  await machine.up();
  const others = await Promise.all(["b", "c"].map((name) => lab.git.repository(name, { x: name })));
  for (const folder of others) {
    const path = join(folder, FILE);
    writeFileSync(join(folder, ".env"), "PORT=80\n");
    symlinkSync(".env", path);
    const led = await machine.run(["link", folder]);
    expect(led.stdout).toStartWith("linked ");
    expect(inOneLine(led.stderr)).toContain(
      `${FILE} is not followed: it is a symbolic link to ${join(folder, ".env")}, which is no`,
    );
    rmSync(path);
    writeFileSync(path, NOT_UTF8);
    const bad = await machine.run(["link", folder]);
    expect(inOneLine(bad.stderr)).toContain(
      `${FILE} is not followed: it is not UTF-8: save it as UTF-8`,
    );
  }
  await machine.untilSynced();
  for (const folder of others) {
    const said = inOneLine(await machine.memsyncWith({ cwd: folder }, "sync"));
    expect(said).toMatch(
      new RegExp(`not followed: \\S*/${basename(folder)}/${FILE} and 1 other, see`),
    );
  }
});

scenario(
  "`link --file` refuses a file that can't be followed, and nobody offers it",
  async (lab) => {
    const machine = await lab.stoppedMachine(emulator.account("link-file-refused"));
    const { folder } = machine;
    writeFileSync(join(folder, FILE), TEXT);
    writeFileSync(join(folder, ".env"), "PORT=80\n");
    symlinkSync(".env", join(folder, "AGENTS.md"));
    await machine.up();
    await waitFor("the text", async () => (await machine.memsync("doc")) === TEXT);
    const refused = await machine.run(["link", "--file", "AGENTS.md"]);
    expect([refused.status, refused.stdout]).toEqual([1, ""]);
    expect(inOneLine(refused.stderr)).toContain(
      "nothing was changed: AGENTS.md is a symbolic link to ",
    );
    expect(await machine.fileStatus()).toMatchObject({ path: FILE, state: "followed", beside: [] });
    writeFileSync(join(folder, "GEMINI.md"), NOT_UTF8);
    const also = inOneLine((await machine.run(["link", "--also", "GEMINI.md"])).stderr);
    expect(also).toContain("GEMINI.md is left as it is: it is not UTF-8");
    expect(also).not.toContain("one from now on");
    // One that can be followed once it is mended is chosen, and is not said to have the text.
    rmSync(join(folder, "AGENTS.md"));
    writeFileSync(join(folder, "AGENTS.md"), NOT_UTF8);
    const chosen = inOneLine((await machine.run(["link", "--file", "AGENTS.md"])).stderr);
    expect(chosen).toContain("AGENTS.md is not followed: it is not UTF-8");
    expect(chosen).not.toContain("one from now on");
  },
);

scenario("`link --write` says of a file that is gone what brings it back", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("link-gone"));
  const path = join(machine.folder, FILE);
  writeFileSync(path, TEXT);
  await machine.up();
  await machine.untilSynced();
  rmSync(path);
  await waitFor("it to be gone", async () => (await machine.fileStatus())?.why === "gone");
  const said = inOneLine((await machine.run(["link", "--write"])).stderr);
  expect(said).toContain(`${FILE} is not followed: it is gone, which deletes nothing elsewhere: `);
  expect(said).toContain("`memsync doc write` gets it back");
  expect(existsSync(path)).toBe(false);
  await machine.memsync("doc", "write");
  expect(existsSync(path)).toBe(true);
});
