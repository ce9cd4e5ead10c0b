import { existsSync } from "node:fs";
import { join } from "node:path";
import { FOLLOWED_NAMES } from "../../daemon/disk/followable-files.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { projectFolder, realPathOf } from "../../daemon/git/working-tree.ts";

/** The current folder: in a followed project, in another one, or in none. */
export type Standing =
  | { readonly kind: "in"; readonly project: string }
  | { readonly kind: "unfollowed"; readonly dir: string; readonly file: string | undefined }
  | { readonly kind: "nowhere" };

/** The parts of a followed project that decide where it is. */
interface PlacedProject {
  readonly id: string;
  readonly folders: readonly { readonly dir: string }[];
}

/** Whether this is the current folder's project. */
export function isStandingIn(standing: Standing, { id }: Pick<PlacedProject, "id">): boolean {
  return standing.kind === "in" && standing.project === id;
}

/** Finds the project of `dir` among the folders of a status. The nearest one above it counts. */
export async function findStanding(
  status: { readonly projects: readonly PlacedProject[] },
  dir: string,
): Promise<Standing> {
  const real = await realPathOf(dir);
  const project = nearestProject(status.projects, real);
  if (project) return { kind: "in", project: project.id };
  const folder = await projectFolder(createGit(), real);
  const file = FOLLOWED_NAMES.find((path) => existsSync(join(folder, path)));
  const isProject = file !== undefined || existsSync(join(folder, ".git"));
  return isProject ? { kind: "unfollowed", dir: folder, file } : { kind: "nowhere" };
}

function nearestProject(
  projects: readonly PlacedProject[],
  dir: string,
): PlacedProject | undefined {
  let nearest: { readonly project: PlacedProject; readonly length: number } | undefined;
  for (const project of projects) {
    for (const folder of project.folders) {
      const isAbove = folder.dir === dir || dir.startsWith(`${folder.dir}/`);
      if (!isAbove || (nearest && nearest.length > folder.dir.length)) continue;
      nearest = { project, length: folder.dir.length };
    }
  }
  return nearest?.project;
}
