import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const BUILD = "## Build\n\n- install\n- run lint\n- pack\n\n";
const TEXT = `# Widget\n\n${BUILD}## Test\n\n- start db\n- run tests\n- stop db\n`;

interface Conflict {
  readonly id: string;
  readonly project_id: string;
  readonly versions: readonly { readonly text: string }[];
}

/** Two machines, daemons up, and their clones of each of some repositories. */
interface Pair {
  readonly a: Machine;
  readonly b: Machine;
  readonly folders: readonly (readonly [string, string])[];
}

async function read(folder: string): Promise<string> {
  return await readFile(join(folder, FILE), "utf8").catch(() => "");
}

async function untilSame([one, other]: readonly [string, string], text: string): Promise<void> {
  await waitFor("the text on both machines", async () => {
    return (await read(one)) === text && (await read(other)) === text;
  });
}

async function conflictsOf(machine: Machine): Promise<Conflict[]> {
  return JSON.parse(await machine.memsync("conflicts", "--json")) as Conflict[];
}

/** Both have the same text in so many projects, of which each then changes the same line. */
async function makePair(lab: Lab, account: string, more: readonly string[] = []): Promise<Pair> {
  const [a, b] = await lab.twoMachines(emulator.account(account), { ".gitignore": FILE });
  const folders: [string, string][] = [[a.folder, b.folder]];
  for (const name of more) {
    await lab.git.repository(name, { ".gitignore": FILE, name });
    const clones = [`a-${name}`, `b-${name}`] as const;
    await lab.git.run(lab.git.folder, "clone", "-q", "--bare", name, `${name}.git`);
    for (const clone of clones) {
      await lab.git.run(lab.git.folder, "clone", "-q", `${name}.git`, clone);
    }
    folders.push([lab.git.path(clones[0]), lab.git.path(clones[1])]);
  }
  const up = async () => {
    await a.up(...folders.map(([folder]) => folder));
    await b.up(...folders.map(([, folder]) => folder));
  };
  await up();
  for (const pair of folders) {
    await writeFile(join(pair[0], FILE), TEXT);
    await untilSame(pair, TEXT);
  }
  await Promise.all([a.untilSynced(), b.untilSynced()]);
  await Promise.all([a.down(), b.down()]);
  for (const [one, other] of folders) {
    await writeFile(join(one, FILE), TEXT.replace("- run lint", "- run tests"));
    await writeFile(join(other, FILE), TEXT.replace("- run lint", "- run checks"));
  }
  await up();
  for (const machine of [a, b]) {
    await waitFor("the conflicts", async () => {
      return (await conflictsOf(machine)).length === folders.length;
    });
  }
  // A file is written after its conflict is known.
  for (const [one, other] of folders) {
    await waitFor("both lines in both files", async () => {
      const text = await read(one);
      const isWhole = text.split("- run tests").length === 3 && text.includes("- run checks");
      return isWhole && (await read(other)) === text;
    });
  }
  return { a, b, folders };
}

function numberOf(conflict: Conflict | undefined, text: string): string {
  const versions = conflict?.versions ?? [];
  return String(versions.findIndex((version) => version.text === text) + 1);
}

scenario("choosing takes away no equal line of another section", async (lab) => {
  const { a, b, folders } = await makePair(lab, "equal-line");
  const [pair] = folders;
  if (!pair) throw new Error("no folder");
  const both = await read(pair[0]);
  const mended = both.replace("- run tests\n", "- run tests -v\n");
  await writeFile(join(pair[0], FILE), mended);
  await untilSame(pair, mended);
  const [conflict] = await conflictsOf(b);
  const choose = ["conflicts", "choose", conflict?.id ?? "", numberOf(conflict, "- run checks\n")];
  const refused = await b.run(choose);
  expect([refused.status, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain("`- run tests -v` stands where the two versions stood");
  const out = mended.replace("- run tests -v\n", "");
  await writeFile(join(pair[0], FILE), out);
  await untilSame(pair, out);
  expect(await b.memsync(...choose)).toContain("`- run tests` elsewhere stays");
  for (const machine of [a, b]) {
    await waitFor("no conflict", async () => (await conflictsOf(machine)).length === 0);
  }
  await untilSame(pair, TEXT.replace("- run lint", "- run checks"));
});

scenario("an id that two projects share means the one that one stands in", async (lab) => {
  const { a, b, folders } = await makePair(lab, "shared-id", ["second"]);
  const [first, second] = folders;
  if (!first || !second) throw new Error("no folders");
  const found = await conflictsOf(a);
  const [{ id } = { id: "" }] = found;
  expect(found.map((each) => each.id)).toEqual([id, id]);
  for (const command of [["show"], ["dismiss"], ["restore"], ["choose", "1"]]) {
    const [name = "", ...version] = command;
    const refused = await a.run(["conflicts", name, id, ...version], { cwd: lab.git.folder });
    expect([refused.status, refused.stdout]).toEqual([1, ""]);
    for (const { project_id: project } of found) {
      expect(refused.stderr).toContain(`--project ${project}`);
    }
  }
  const before = await read(second[0]);
  const number = numberOf(found[0], "- run checks\n");
  await a.memsyncWith({ cwd: first[0] }, "conflicts", "choose", id, number);
  await untilSame(first, TEXT.replace("- run lint", "- run checks"));
  for (const machine of [a, b]) {
    await waitFor("one conflict", async () => (await conflictsOf(machine)).length === 1);
  }
  expect(await read(second[0])).toBe(before);
  const left = (await conflictsOf(b))[0]?.project_id ?? "";
  expect(left).toBe((await a.projectOf(second[0])).id);
  for (const command of [["dismiss"], ["restore"], ["choose", number]]) {
    const [name = "", ...version] = command;
    const again = await a.run(["conflicts", name, id, ...version], { cwd: first[0] });
    expect([again.status, again.stdout]).toEqual([1, ""]);
    const typed = ["memsync conflicts", name, id, ...version].join(" ");
    expect(again.stderr).toContain(`\`${typed} --project ${left}\``);
  }
  await Promise.all([a.untilSynced(), b.untilSynced()]);
  expect(await read(second[0])).toBe(before);
  const shown = await a.memsyncWith({ cwd: first[0] }, "conflicts", "show", id);
  expect(shown).toContain(`\`memsync conflicts choose ${id} 1 --project ${left}\``);
  const there = await a.memsyncWith({ cwd: second[0] }, "conflicts", "show", id);
  expect(there).toContain(`\`memsync conflicts choose ${id} 1\``);
  await a.memsyncWith({ cwd: first[0] }, "conflicts", "choose", id, number, "--project", left);
  await untilSame(second, TEXT.replace("- run lint", "- run checks"));
});

scenario(
  "what two machines choose otherwise at once never stands twice without a conflict",
  async (lab) => {
    const { a, b, folders } = await makePair(lab, "at-once", ["second", "third", "fourth"]);
    const conflicts = await conflictsOf(a);
    const choose = async (machine: Machine, line: string) => {
      for (const conflict of conflicts) {
        const number = numberOf(conflict, `- run ${line}\n`);
        // The other machine's choice may have come before: then there is nothing left to choose.
        const place = ["--project", conflict.project_id];
        await machine.run(["conflicts", "choose", conflict.id, number, ...place]);
      }
    };
    await Promise.all([choose(a, "tests"), choose(b, "checks")]);
    await Promise.all([a.untilSynced(), b.untilSynced()]);
    for (const [one, other] of folders) {
      await waitFor("equal files", async () => (await read(one)) === (await read(other)));
      const lines = (await read(one)).split("\n");
      const build = lines.slice(0, lines.indexOf("## Test"));
      const isIn = (line: string) => build.includes(`- run ${line}`);
      expect(isIn("tests") || isIn("checks")).toBeTrue();
      if (!isIn("tests") || !isIn("checks")) continue;
      const status = await a.memsyncWith({ cwd: one }, "conflicts", "--json");
      expect(JSON.parse(status)).not.toEqual([]);
    }
  },
);
