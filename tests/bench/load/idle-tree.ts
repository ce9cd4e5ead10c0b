import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitSandbox } from "../../support/git-sandbox.ts";
import { call } from "../emulator.ts";
import { type Address, startMachine } from "../machine-program.ts";
import { notes } from "../notes.ts";
import type { Programs } from "../programs.ts";

const PROJECTS = 50;
export const MEMORIES = 200;

/** A project's folder, and the id that it is linked to. */
export interface IdleProject {
  readonly id: string;
  readonly dir: string;
}

/** Repositories with a file to follow, and the memories as files for whoever syncs those. */
export async function makeProjects(sandbox: GitSandbox): Promise<IdleProject[]> {
  const projects: IdleProject[] = [];
  for (let at = 0; at < PROJECTS; at++) {
    const files = { "CLAUDE.md": `# Project ${at}\n\nTests come first.\n` };
    const dir = await sandbox.repository(`project-${at}`, files);
    await mkdir(join(dir, "notes"));
    for (const { key, value } of notes(MEMORIES)) {
      await writeFile(join(dir, "notes", `${key}.md`), `${value}\n`);
    }
    projects.push({ id: `proj_idle_${at}`, dir });
  }
  return projects;
}

/** Leaves a home that follows all of the projects and has all their memories; no daemon runs. */
export async function fillHome(
  programs: Programs,
  home: string,
  projects: readonly IdleProject[],
  service: Address,
): Promise<void> {
  for (const { id } of projects) {
    await call(service, "POST", `/v1/projects/${id}/sync`, { memories: notes(MEMORIES) });
  }
  const [first = ""] = projects.map(({ dir }) => dir);
  const machine = await startMachine(programs, home, first, service, []);
  for (const { id, dir } of projects) await machine.link(dir, id);
  await machine.sync();
  await machine.stop();
}
