import { expect } from "bun:test";
import { appendFileSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const inOneLine = (text: string) => text.replaceAll(/\s+/g, " ");

scenario("`sync` in a clone that is not followed does not say that all is synced", async (lab) => {
  const [a] = await lab.twoMachines(emulator.account("other-clone"), { [FILE]: "# Guide\n" });
  await a.up();
  expect(await a.memsync("sync")).toStartWith("everything is synced");
  const moved = `${a.folder}-old`;
  renameSync(a.folder, moved);
  await waitFor("the folder to be found", async () => {
    return (await a.fileStatus(moved).catch(() => undefined)) !== undefined;
  });
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", basename(a.folder));
  appendFileSync(join(a.folder, FILE), "Typed in the new clone.\n");
  const said = inOneLine(await a.memsync("sync"));
  expect(said).toStartWith("everything that is followed is synced; ");
  expect(said).toContain(`is not followed, nor its ${FILE}, though origin is in `);
  expect(said).toContain("`memsync link` follows it");
  expect(await a.memsyncWith({ cwd: moved }, "sync")).toStartWith("everything is synced");
});

scenario("`preview` says of a file on another branch what `status` says", async (lab) => {
  const [a] = await lab.twoMachines(emulator.account("on-branch"), { [FILE]: "# Guide\n" });
  await a.up();
  await a.untilSynced();
  await lab.git.run(a.folder, "switch", "-q", "-c", "topic");
  appendFileSync(join(a.folder, FILE), "Of the branch.\n");
  await waitFor("it to be left alone", async () => (await a.fileStatus())?.why === "leave-branch");
  const said = inOneLine(await a.memsync("preview"));
  expect(said).toContain(`${FILE} not sent: is left alone on topic: it is followed on main`);
  expect(said).not.toContain("not read yet");
});
