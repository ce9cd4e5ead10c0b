import { expect } from "bun:test";
import { chmodSync, chownSync, linkSync, readFileSync, statSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import { type Machine, SOURCES } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const KILL = join(import.meta.dir, "..", "support", "kill-in-write.ts");
const IS_ROOT = process.getuid?.() === 0;
const OTHER = 65534;
const PAGE = 4096;

const LINES = Array.from({ length: 600 }, (_, at) => `- rule ${at}, naïve or not\n`);
const START = `# Rules\n\n${LINES.join("")}`;
// Nothing of it is taken away: what has just come is not undone without a conflict.
const CHANGED = START.replace("# Rules\n", "# Rules\n\nTests come first.\n");

/** Two machines with one text; the first one's file has a second name. */
async function startLinked(lab: Lab, account: string): Promise<readonly [Machine, Machine]> {
  const [a, b] = await lab.twoMachines(emulator.account(account), { ".gitignore": FILE });
  await writeFile(`${a.folder}/${FILE}`, START);
  linkSync(`${a.folder}/${FILE}`, lab.git.path("second-name"));
  await Promise.all([a.up(), b.up()]);
  await untilFile(b, START);
  return [a, b];
}

async function untilFile(machine: Machine, text: string): Promise<void> {
  await waitFor(`${machine.name}'s file to be written`, async () => {
    return (await readFile(`${machine.folder}/${FILE}`, "utf8").catch(() => "")) === text;
  });
}

scenario("a file that has a second name keeps it, its owner and its mode", async (lab) => {
  const [a, b] = await startLinked(lab, "second-name");
  const file = `${a.folder}/${FILE}`;
  chmodSync(file, 0o640);
  if (IS_ROOT) chownSync(file, OTHER, OTHER);
  const before = statSync(file);
  await writeFile(`${b.folder}/${FILE}`, CHANGED);
  await untilFile(a, CHANGED);
  expect(readFileSync(lab.git.path("second-name"), "utf8")).toBe(CHANGED);
  const { ino, uid, gid, mode } = statSync(file);
  expect({ ino, uid, gid, mode }).toEqual({
    ino: before.ino,
    uid: before.uid,
    gid: before.gid,
    mode: before.mode,
  });
  await waitFor("the journal to be gone", async () => {
    return !(await readdir(a.folder)).some((name) => name.endsWith(".memsync"));
  });
  expect((await a.fileStatus())?.note).toBeNull();
});

scenario("a daemon killed in the middle of a write finishes it, with no conflict", async (lab) => {
  const [a, b] = await startLinked(lab, "mix");
  const { id } = await b.projectOf();
  await a.down();
  const [runtime, program] = SOURCES;
  const env = { KILLED_AFTER_BYTES: String(PAGE) };
  const dying = a.spawnOther([runtime, "--preload", KILL, program, "up"], { env });
  await dying.untilPrinted(/memsync is up/);
  await writeFile(`${b.folder}/${FILE}`, CHANGED);
  await dying.ended();
  const mix = readFileSync(`${a.folder}/${FILE}`, "utf8");
  expect([START, CHANGED]).not.toContain(mix);
  await a.up();
  await untilFile(a, CHANGED);
  await a.sync();
  expect(await b.doc(id)).toBe(CHANGED);
  expect(readFileSync(lab.git.path("second-name"), "utf8")).toBe(CHANGED);
  expect(JSON.parse(await a.memsync("conflicts", "--json"))).toEqual([]);
});
