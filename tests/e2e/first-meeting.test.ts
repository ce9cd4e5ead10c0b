import { expect } from "bun:test";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const GONE = "two, a rule that is wrong\n";
const OLD = `# Rules\none\n${GONE}three\nfour\nfive\n`;
const WITHOUT = OLD.replace(GONE, "");

interface ShownConflict {
  readonly id: string;
  readonly cause: string;
  readonly versions: readonly { readonly text: string; readonly machine: string | null }[];
}

async function save(folder: string, text: string): Promise<void> {
  await writeFile(join(folder, FILE), text);
}

async function read(folder: string): Promise<string> {
  return await readFile(join(folder, FILE), "utf8");
}

async function untilAll(machines: readonly Machine[], text: string): Promise<void> {
  for (const machine of machines) {
    await waitFor(`${machine.name} to have ${JSON.stringify(text)}`, async () => {
      return (await machine.memsync("doc")) === text && (await read(machine.folder)) === text;
    });
  }
}

async function conflictsOf(machine: Machine): Promise<ShownConflict[]> {
  return JSON.parse(await machine.memsync("conflicts", "--json")) as ShownConflict[];
}

/** How a machine comes to meet a file from before the deletion. */
interface Way {
  /** While both still have the line. */
  readonly before?: (lab: Lab, a: Machine) => Promise<void>;
  /** Once it is deleted; gives the machine that has the file. */
  readonly meet: (lab: Lab, a: Machine) => Promise<Machine>;
  /** Whether `a` is there to have the deletion. */
  readonly isThere: boolean;
}

const copyOf = ({ folder }: Machine) => `${folder}-copy`;

async function begunAgain(a: Machine): Promise<Machine> {
  await a.up();
  return a;
}

const WAYS: Readonly<Record<string, Way>> = {
  "on a third machine": {
    isThere: true,
    async meet(lab, a) {
      await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "third");
      const third = lab.machine("third", lab.git.path("third"), a.service);
      await save(third.folder, OLD);
      await third.up();
      return third;
    },
  },
  "in a copied folder": {
    isThere: true,
    before: async (_, a) => await cp(a.folder, copyOf(a), { recursive: true }),
    async meet(_, a) {
      await a.memsyncWith({ cwd: copyOf(a) }, "link");
      return a;
    },
  },
  "beside a lost database": {
    isThere: false,
    async before(_, a) {
      await a.down();
      const files = (await readdir(a.home)).filter((name) => name.startsWith("memsync.db"));
      for (const name of files) await rm(join(a.home, name));
    },
    meet: async (_, a) => await begunAgain(a),
  },
  "beside a lost home": {
    isThere: false,
    async before(_, a) {
      await a.down();
      await rm(a.home, { recursive: true });
    },
    meet: async (_, a) => await begunAgain(a),
  },
};

for (const [where, way] of Object.entries(WAYS)) {
  scenario(
    `a file from before a deletion, ${where}, undoes it on no machine untold`,
    async (lab) => {
      const account = where.replaceAll(" ", "-");
      const [a, b] = await lab.twoMachines(emulator.account(account), { ".gitignore": FILE });
      for (const { folder } of [a, b]) await save(folder, OLD);
      await Promise.all([a.up(), b.up()]);
      await untilAll([a, b], OLD);
      for (const machine of [a, b]) await machine.sync();
      await way.before?.(lab, a);
      await save(b.folder, WITHOUT);
      await untilAll(way.isThere ? [a, b] : [b], WITHOUT);
      await b.sync();
      const met = await way.meet(lab, a);
      await untilAll([met, b], OLD);

      for (const machine of [met, b]) {
        await waitFor(`${machine.name} to tell it`, async () => {
          return (await conflictsOf(machine)).length > 0;
        });
      }
      const [told, ...more] = await conflictsOf(b);
      const sides = told?.versions.map(({ text }) => text);
      expect([told?.cause, sides, more]).toEqual(["renewed", ["", GONE], []]);
      expect(told?.versions[1]?.machine).toEndWith(`home-${met.name}`);

      await b.memsync("conflicts", "choose", told?.id ?? "", "1");
      await untilAll([met, b], WITHOUT);
      for (const machine of [met, b]) {
        await waitFor(`${machine.name} to be settled`, async () => {
          return (await conflictsOf(machine)).length === 0;
        });
      }
    },
  );
}
