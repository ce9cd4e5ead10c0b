import { expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import type { Finding } from "../../cli/doctor/finding.ts";
import { type Lab, scenario } from "../support/lab.ts";
import { type Machine, MEMSYNC } from "../support/machine.ts";
import type { Need } from "../support/needs.ts";
import { waitFor } from "../support/wait-for.ts";

const FILE = "CLAUDE.md";
const LIMITS = "/proc/sys/user";

/** A command line in a user namespace of its own, where a limit is as low as this. */
function limited(name: string, limit: number, command: readonly string[]): string[] {
  const script = `echo ${limit} > ${LIMITS}/${name} && exec "$@"`;
  return ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", ...command];
}

/** Not every system lets its users have namespaces. */
const LIMITED_WATCHES: Need = {
  isMet: canRun(limited("max_inotify_watches", 1, ["true"])),
  missing: "this user may not limit a program's watches",
};

function canRun([program = "", ...args]: readonly string[]): boolean {
  return spawnSync(program, args).status === 0;
}

const DEADLINE_MS = 120_000;

async function startLimited(lab: Lab, name: string, limit: number): Promise<Machine> {
  const folders = [];
  for (const each of ["one", "two", "three"]) {
    // Of the same first commit they would be one project.
    folders.push(await lab.git.repository(each, { ".gitignore": FILE, [each]: "" }));
  }
  const machine = lab.machine("a", folders[0] ?? "");
  const daemon = machine.spawnOther(limited(name, limit, [...MEMSYNC, "up", ...folders]));
  await daemon.untilPrinted(/memsync is up/);
  return machine;
}

/** Saves are found in each folder, watched or not. */
async function expectSavesFound(lab: Lab, machine: Machine): Promise<void> {
  for (const name of ["one", "two", "three"]) {
    for (const text of [`# Of ${name}\n`, `# Of ${name}\n\nand more\n`]) {
      const folder = lab.git.path(name);
      await writeFile(`${folder}/${FILE}`, text);
      const { id } = await machine.projectOf(folder);
      await waitFor(`the text of ${name}`, async () => (await machine.doc(id)) === text);
    }
  }
}

async function findingAbout(machine: Machine, about: string): Promise<Finding | undefined> {
  const findings = JSON.parse(await machine.memsync("doctor", "--json")) as Finding[];
  return findings.find((finding) => finding.about === about);
}

const CASES = [
  ["max_inotify_watches", 4, "max_user_watches"],
  ["max_inotify_instances", 0, "max_user_instances"],
] as const;

for (const [name, limit, told] of CASES) {
  scenario(
    `where ${name} is ${limit}, folders are polled, and the limit to raise is named`,
    async (lab) => {
      const machine = await startLimited(lab, name, limit);
      await waitFor("a folder to be polled", async () => {
        const { projects } = await machine.status();
        const polled = projects.flatMap(({ folders }) => folders.map((each) => each.polled));
        return polled.some((each) => each?.limit === told);
      });
      await expectSavesFound(lab, machine);
      expect(await machine.memsync("status")).toContain(`fs.inotify.${told}`);
      const finding = await findingAbout(machine, "watched");
      expect(finding?.state).toBe("warning");
      expect(finding?.mend).toContain(`sudo sysctl fs.inotify.${told}=`);
    },
    { deadlineMs: DEADLINE_MS, needs: LIMITED_WATCHES },
  );
}

scenario("where nothing is short, all folders are watched by events", async (lab) => {
  const folder = await lab.git.repository("one", { ".gitignore": FILE });
  const machine = lab.machine("a", folder);
  await machine.up();
  expect((await machine.fileStatus())?.polled).toBeNull();
  expect((await findingAbout(machine, "watched"))?.state).toBe("ok");
});
