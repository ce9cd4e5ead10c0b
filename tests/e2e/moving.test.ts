import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";

scenario("what lived in the embedded service comes along to a configured one", async (lab) => {
  const [folderA, folderB] = await lab.clones({ ".gitignore": `${FILE}\n` });
  const [a, b] = [lab.machine("a", folderA), lab.machine("b", folderB)];
  const common = "# Project\n\nboth know this line\nand this one\n";
  await writeFile(join(folderA, FILE), `${common}\nonly a knows this\n`);
  await writeFile(join(folderB, FILE), `${common}\nonly b knows this\n`);
  for (const machine of [a, b]) {
    await machine.up();
    await machine.memsync("set", `from-${machine.name}`, "embedded");
    await machine.memsync("set", `mine-${machine.name}`, "embedded", "--layer", "user");
    await machine.untilSynced();
    await machine.down();
    machine.service = emulator.account("moving");
  }
  await a.up();
  await a.untilSynced();
  await b.up();
  await waitFor("both to hold everything", async () => {
    await Promise.all([a.syncOnce(), b.syncOnce()]);
    const [onA, onB] = await Promise.all([a, b].map((machine) => machine.list()));
    return onA?.length === 4 && Bun.deepEquals(keysOf(onA), keysOf(onB ?? []));
  });
  const text = await waitFor("both files to be the same", async () => {
    await Promise.all([a.syncOnce(), b.syncOnce()]);
    const [onA, onB] = await Promise.all(
      [folderA, folderB].map((folder) => readFile(join(folder, FILE), "utf8")),
    );
    return onA === onB && onA;
  });
  for (const line of ["# Project", "both know this line", "and this one"]) {
    expect({ line, times: text.split(`${line}\n`).length - 1 }).toEqual({ line, times: 1 });
  }
  for (const name of ["a", "b"]) expect(text).toContain(`only ${name} knows this\n`);
});

function keysOf(memories: readonly { readonly key: string }[]): string[] {
  return memories.map(({ key }) => key).sort();
}
