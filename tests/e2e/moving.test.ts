import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine, ServiceConfig } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";

async function restart(machine: Machine, service: ServiceConfig | undefined): Promise<void> {
  await machine.down();
  machine.service = service;
  await machine.up();
}

async function fileOf(machine: Machine): Promise<string> {
  return await readFile(`${machine.folder}/${FILE}`, "utf8");
}

/** Two machines without a configured service, each with its own text and memories. */
async function twoAlone(lab: Lab, textA: string, textB: string) {
  const [folderA, folderB] = await lab.clones({ ".gitignore": FILE });
  const [a, b] = [lab.machine("a", folderA), lab.machine("b", folderB)];
  for (const [machine, text] of [[a, textA] as const, [b, textB] as const]) {
    await writeFile(`${machine.folder}/${FILE}`, text);
    await machine.up();
    await machine.sync();
    await machine.memsync("set", `of-${machine.name}`, machine.name);
    await machine.memsync("set", "mine", machine.name, "--layer", "user");
  }
  return [a, b] as const;
}

async function memoriesOf(machine: Machine): Promise<Record<string, string>> {
  return Object.fromEntries((await machine.list()).map(({ key, value }) => [key, value]));
}

async function untilSameFiles(a: Machine, b: Machine, holds: (text: string) => boolean) {
  return await waitFor("the same text on both machines", async () => {
    const [onA, onB] = await Promise.all([fileOf(a), fileOf(b)]);
    return onA === onB && holds(onA) && onA;
  });
}

scenario("moving to a service brings everything, and texts meet once", async (lab) => {
  const shared = "# Project\n\nBuild with make.\n\nTest with make test.\n";
  const [a, b] = await twoAlone(lab, `${shared}\nOf a.\n`, `Of b.\n\n${shared}`);
  const account = emulator.account("moving");
  await restart(a, account);
  await a.sync();
  await restart(b, account);
  const merged = await untilSameFiles(a, b, (text) => text.includes("Of b."));
  expect(merged).toBe(`Of b.\n\n${shared}\nOf a.\n`);
  // One was written on both, so that its key was there before the other's value.
  const [onA, onB] = await waitFor("the same memories on both", async () => {
    const lists = await Promise.all([a, b].map(memoriesOf));
    return Bun.deepEquals(lists[0], lists[1]) && Object.keys(lists[0] ?? {}).length === 3 && lists;
  });
  expect([onA, onB]).toMatchObject([{ "of-b": "b" }, { "of-a": "a" }]);
});

scenario("equal texts that were made apart are one text in the service", async (lab) => {
  const text = "# Project\n\nBuild with make.\n";
  const [a, b] = await twoAlone(lab, text, text);
  const account = emulator.account("moving-equal");
  await Promise.all([restart(a, account), restart(b, account)]);
  await Promise.all([a.untilSynced(), b.untilSynced()]);
  await writeFile(`${b.folder}/${FILE}`, `${text}\nOf b.\n`);
  expect(await untilSameFiles(a, b, (each) => each.includes("Of b."))).toBe(`${text}\nOf b.\n`);
});

scenario("a text edited apart for a while meets the service's line by line", async (lab) => {
  const start = "# Project\n\none\n\ntwo\n\nthree\n";
  const [a, b] = await twoAlone(lab, start, start);
  await writeFile(`${a.folder}/${FILE}`, start.replace("one", "one of a"));
  await writeFile(`${b.folder}/${FILE}`, start.replace("three", "three of b"));
  await Promise.all([a.untilSynced(), b.untilSynced()]);
  const account = emulator.account("moving-edited");
  await restart(a, account);
  await a.untilSynced();
  await restart(b, account);
  const merged = await untilSameFiles(a, b, (text) => text.includes("three of b"));
  for (const line of ["# Project", "one of a", "two", "three of b"]) {
    expect([line, merged.split("\n").filter((each) => each === line)]).toEqual([line, [line]]);
  }
});

scenario("going back to the embedded service and out again loses nothing", async (lab) => {
  const [a, b] = await twoAlone(lab, "# Project\n", "# Project\n");
  const account = emulator.account("there-and-back");
  await Promise.all([restart(a, account), restart(b, account)]);
  await waitFor("b's memory on a", async () => (await a.run(["get", "of-b"])).status === 0);
  await restart(a, undefined);
  await a.memsync("set", "alone", "again");
  await a.memsync("rm", "of-b");
  await writeFile(`${a.folder}/${FILE}`, "# Project\n\nalone\n");
  // It ends with 1, for the home's service gets nothing of it.
  expect((await a.run(["sync"])).stderr).toContain("on this machine alone");
  await b.memsync("set", "meanwhile", "of b");
  await restart(a, account);
  await untilSameFiles(a, b, (text) => text === "# Project\n\nalone\n");
  await waitFor("the same memories on both", async () => {
    const [onA, onB] = await Promise.all(
      [a, b].map(async (machine) => (await machine.list()).map(({ key }) => key).sort()),
    );
    return Bun.deepEquals(onA, onB) && onA?.includes("meanwhile") && onA.includes("alone");
  });
  expect((await b.run(["get", "of-b"])).status).toBe(1);
});
