import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { sep } from "node:path";
import { AppError } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { refuseChosen } from "../files/names/import-file.ts";
import { identifyProject, identityAmong, type ProjectIdentity } from "../git/identity.ts";
import type { Git } from "../git/run-git.ts";
import { realPathOf, refuseGitsOwn, refuseLostTree } from "../git/working-tree.ts";
import { secretHider } from "../held/secret-scan.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { OpenRemotes } from "../remotes/open-remotes.ts";
import type { LinkOptions } from "./make-link.ts";
import type { RepositoryNotes } from "./repository-notes.ts";

/** A folder by its real path, with the project that its repository names. */
export interface IdentifiedFolder {
  readonly dir: string;
  readonly identity: ProjectIdentity;
}

/** What tells which folders may be linked, and which projects are known. */
interface FolderKnowledge {
  readonly store: ReplicaStore<DaemonTables>;
  readonly git: Git;
  readonly remotes: OpenRemotes;
  readonly notes: RepositoryNotes;
  readonly links: () => readonly Link[];
}

/**
 * Reads which project a folder's repository names. Refuses what can be no project's folder, and a
 * chosen file that can't be followed.
 */
export async function identifyFolder(
  folder: string,
  options: LinkOptions,
  known: FolderKnowledge,
): Promise<IdentifiedFolder> {
  const dir = await realPathOf(folder);
  if (!(await isFolder(dir))) {
    throw new AppError("not_found", `${folder} is not a folder`);
  }
  refuseGitsOwn(dir);
  await refuseLostTree(dir);
  if (await holdsHome(dir)) {
    const whose = `${folder} is your home folder, or holds it`;
    throw new AppError("invalid_request", `${whose}: link the folder of one project`);
  }
  const { git, store } = known;
  if (options.file) await refuseChosen(store.reader, git, { dir, file: options.file });
  const identity = await identifyProject(git, dir);
  // Its name is sent to the service. The folder's, or the repository's, may hold a secret.
  const hide = await secretHider();
  const named = { dir, identity: { ...identity, name: hide(identity.name) } };
  return { dir, identity: await byKnownName(named, options, known) };
}

/**
 * The identity under its former id, if this home or the service knows that. Machines that linked
 * the repository earlier then go on to share the project with those that link it now.
 */
async function byKnownName(
  { dir, identity }: IdentifiedFolder,
  { id, remote }: LinkOptions,
  { remotes, notes, links }: FolderKnowledge,
): Promise<ProjectIdentity> {
  if (identity.kind === "none" || identity.formerId === undefined || id) return identity;
  const { formerId, projectId } = identity;
  const isKnown = (project: ProjectId) =>
    remotes.bindingOf(project) !== undefined || links().some((link) => link.projectId === project);
  if (isKnown(formerId)) return identityAmong(identity, [formerId]);
  if (isKnown(projectId)) return identity;
  const { view } = remotes;
  const meant =
    remote === undefined ? view.default : view.remotes.find(({ name }) => name === remote);
  const has = await notes.hasFormer(dir, { account: meant?.account, formerId });
  return has ? identityAmong(identity, [formerId]) : identity;
}

/** Otherwise everything that the user has would be one project. */
async function holdsHome(dir: string): Promise<boolean> {
  const home = await realPathOf(homedir());
  return isIn(home, dir);
}

/** Whether a path is that of a folder, or of something in it. */
export function isIn(path: string, dir: string): boolean {
  return path === dir || path.startsWith(dir.endsWith(sep) ? dir : `${dir}${sep}`);
}

/** Whether there is a folder at a path. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
