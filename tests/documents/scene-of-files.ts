import { join } from "node:path";
import { waitFor } from "../support/wait-for.ts";
import type { Reader } from "./reader.ts";
import type { Scene } from "./scene.ts";
import { cloneWidget } from "./widget.ts";

/** Two machines on one account that have changed one line and one memory while apart. */
async function stage(reader: Reader): Promise<void> {
  const { lab, laptop } = reader;
  const emulator = await lab.emulator();
  await reader.use(emulator.account("files"));
  const desktop = await cloneWidget(reader);
  desktop.service = laptop.service;
  const save = (folder: string, line: string) =>
    lab.git.write(join(folder, "CLAUDE.md"), `one\n${line}\nthree\n`);
  await save(laptop.folder, "two");
  await laptop.up();
  await laptop.memsync("set", "build", "make all");
  await laptop.sync();
  await desktop.up();
  await desktop.sync();
  for (const machine of [laptop, desktop]) await machine.down();
  for (const [machine, build] of [
    [laptop, "npm run build, never make"],
    [desktop, "bun run build"],
  ] as const) {
    await machine.memsync("set", "build", build);
    await save(machine.folder, `two of the ${machine.name}`);
  }
  await desktop.up();
  await desktop.sync();
  await laptop.memsync("start");
  await laptop.sync();
  await waitFor("both conflicts", async () => {
    const listed = JSON.parse(await laptop.memsync("conflicts", "--json")) as unknown[];
    return listed.length === 2;
  });
}

export const FILES: Scene = {
  document: "docs/files.md",
  stage,
  acts: [
    { command: "memsync install", notRun: "tests/e2e/install.test.ts has a service manager" },
    { command: "memsync logs --follow", until: /sent/ },
  ],
};
