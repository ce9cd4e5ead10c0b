import type { Machine } from "../support/machine.ts";
import { nameMachine, type Reader } from "./reader.ts";

/** Clones of one repository at `~/src/widget` and at `~/desktop`, whose file git ignores. */
export async function cloneWidget({ lab, laptop }: Reader): Promise<Machine> {
  const { git } = lab;
  await git.repository("first", { ".gitignore": "CLAUDE.md\n" });
  await git.run(git.folder, "clone", "-q", "--bare", "first", "widget.git");
  await git.run(git.folder, "clone", "-q", "widget.git", laptop.folder);
  await git.run(git.folder, "clone", "-q", "widget.git", "desktop");
  const desktop = lab.machine("desktop", git.path("desktop"));
  nameMachine(desktop);
  return desktop;
}
