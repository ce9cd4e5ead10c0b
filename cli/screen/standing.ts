import { existsSync } from "node:fs";
import { join } from "node:path";
import { FOLLOWED_NAMES } from "../../daemon/disk/followable-files.ts";
import { identifyProject } from "../../daemon/git/identity.ts";
import { createGit, type Git } from "../../daemon/git/run-git.ts";
import {
  findLostTree,
  type LostTree,
  projectFolder,
  realPathOf,
} from "../../daemon/git/working-tree.ts";
import { findRenamedTo, type RenamedLink } from "../../daemon/links/renamed-links.ts";

/** The current folder: in a followed project, in another one, or in none. */
export type Standing =
  | { readonly kind: "in"; readonly project: string; readonly dir: string }
  | {
      readonly kind: "unfollowed";
      readonly dir: string;
      readonly file: string | undefined;
      /** The followed project of which this folder is another clone, and where that one is. */
      readonly others: { readonly name: string; readonly dir: string } | undefined;
      /** The followed folder of which git has made the current one. */
      readonly renamed: RenamedLink<FollowedFolder> | undefined;
    }
  /** Not followed, and nobody knows whose it is: its repository is missing. */
  | { readonly kind: "lost"; readonly lost: LostTree }
  | { readonly kind: "nowhere" };

interface FollowedFolder {
  readonly dir: string;
  readonly name: string;
  readonly projectId: string;
}

/** The parts of a followed project that decide where it is. */
interface PlacedProject {
  readonly id: string;
  readonly name: string;
  readonly folders: readonly { readonly dir: string }[];
}

/** Whether this is the current folder's project. */
export function isStandingIn(standing: Standing, { id }: Pick<PlacedProject, "id">): boolean {
  return standing.kind === "in" && standing.project === id;
}

/** A project's folders, the current one first. */
export function hereFirst<Folder extends { readonly dir: string }>(
  standing: Standing,
  folders: readonly Folder[],
): readonly Folder[] {
  const here = folders.filter(({ dir }) => standing.kind === "in" && standing.dir === dir);
  return [...here, ...folders.filter((each) => !here.includes(each))];
}

/** Finds the project of `dir` among the folders of a status. The nearest one above it counts. */
export async function findStanding(
  status: { readonly projects: readonly PlacedProject[] },
  dir: string,
): Promise<Standing> {
  const real = await realPathOf(dir);
  const nearest = nearestProject(status.projects, real);
  const lost = await findLostTree(real);
  if (lost && !(nearest && isWithin(lost.root, nearest.dir))) return { kind: "lost", lost };
  if (nearest) return { kind: "in", ...nearest };
  const git = createGit();
  const folder = await projectFolder(git, real);
  const file = FOLLOWED_NAMES.find((path) => existsSync(join(folder, path)));
  const isProject = file !== undefined || existsSync(join(folder, ".git"));
  if (!isProject) return { kind: "nowhere" };
  const others = await otherClones(git, folder, status.projects);
  const followed = status.projects.flatMap(({ id, name, folders }) =>
    folders.map((each) => ({ dir: each.dir, name, projectId: id })),
  );
  const renamed = await findRenamedTo(git, followed, real);
  return { kind: "unfollowed", dir: folder, file, others, renamed };
}

async function otherClones(
  git: Git,
  folder: string,
  projects: readonly PlacedProject[],
): Promise<Extract<Standing, { readonly kind: "unfollowed" }>["others"]> {
  if (projects.length === 0) return undefined;
  const identity = await identifyProject(git, folder);
  if (identity.kind === "none") return undefined;
  const ids: readonly (string | undefined)[] = [identity.projectId, identity.formerId];
  const project = projects.find(({ id }) => ids.includes(id));
  const [first] = project?.folders ?? [];
  return project && first && { name: project.name, dir: first.dir };
}

function nearestProject(
  projects: readonly PlacedProject[],
  dir: string,
): { readonly project: string; readonly dir: string } | undefined {
  let nearest: { readonly project: string; readonly dir: string } | undefined;
  for (const project of projects) {
    for (const folder of project.folders) {
      if (!isWithin(folder.dir, dir) || (nearest && nearest.dir.length > folder.dir.length))
        continue;
      nearest = { project: project.id, dir: folder.dir };
    }
  }
  return nearest;
}

function isWithin(above: string, dir: string): boolean {
  return dir === above || dir.startsWith(`${above}/`);
}
