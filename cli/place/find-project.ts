import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Kysely } from "kysely";
import {
  FolderProjects,
  type PlaceInProject,
} from "../../daemon/assistants/sessions/project-of-folder.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { isInRepositoryBelow, lostTreeShown, realPathOf } from "../../daemon/git/working-tree.ts";
import { type Link, listLinks } from "../../daemon/home/links.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findLinkAbove } from "../../daemon/links/plan-place.ts";
import { findRenamedTo } from "../../daemon/links/renamed-links.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { followMovedOf } from "../contact/follow-moved.ts";
import { CommandFailed } from "../screen/errors.ts";
import { renamedShown } from "../screen/renamed-folder-shown.ts";
import type { Environment } from "./environment.ts";
import { assertKnownProject } from "./known-projects.ts";

/**
 * Thrown in a folder of some project if only its repository, which is missing, could tell which
 * one.
 */
export class LostFolder extends CommandFailed {}

/** The project that was found, and by which linked folder; that of an id is by none. */
export type MeantProject = Pick<PlaceInProject, "project"> &
  Partial<Pick<PlaceInProject, "dir" | "by">>;

/** The project of a command; see `findMeant`. */
export async function findMeantProject(
  db: Kysely<DaemonTables> | undefined,
  named: string | undefined,
  at: Pick<Environment, "home" | "dir">,
): Promise<ProjectId> {
  return (await findMeant(db, named, at)).project;
}

/**
 * The project of a command. `named`: a project's id, a folder or, where there is no such folder, a
 * project's name; without it, the current folder. A folder's project is that of the nearest linked
 * folder above it, which may have been moved since, or of a folder with the same identity, such as
 * another worktree. In a repository inside a linked folder, as a submodule is, that identity counts
 * first, and that of the repository on this machine that it is a clone of. Throws where nothing
 * here is known of it, or where that can't be told, as of a worktree whose repository was moved.
 * An empty name is refused: it is a script's unset variable, and not the current folder.
 */
export async function findMeant(
  db: Kysely<DaemonTables> | undefined,
  named: string | undefined,
  { home, dir }: Pick<Environment, "home" | "dir">,
): Promise<MeantProject> {
  if (named === "") {
    throw new CommandFailed("a project's name is empty; `.` is the one of the current folder");
  }
  const id = named === undefined ? undefined : parseProjectId(named);
  if (id !== undefined) {
    await assertKnownProject(db, id);
    return { project: id };
  }
  const folder = await realPathOf(resolve(dir, named ?? "."));
  const links = db ? await listLinks(db) : [];
  const found = db && (await findLinkAbove(db, links, folder));
  // A mistyped folder must not count as a part of the project around it. A linked folder may be
  // missing.
  if (named !== undefined && !existsSync(folder) && (!found || existsSync(found.dir))) {
    const { findByName } = await import("./project-names.ts");
    return { project: await findByName(db, named, folder) };
  }
  if (found) {
    if (found.link.dir !== found.dir) await followMovedOf(home, found.dir);
    const { link } = found;
    const below = links.filter(({ dir }) => dir.startsWith(`${found.dir}/`));
    const renamed = await findRenamedTo(createGit(), below, folder);
    // What is written here belongs to the linked folder's project, and what would be read was not
    // written by that.
    if (renamed) throw new CommandFailed(renamedShown(renamed));
    if (!(await isInRepositoryBelow(found.dir, folder))) {
      return { project: link.projectId, dir: found.dir, by: "folder" };
    }
    const moved = links.map((each) => (each.dir === link.dir ? { ...each, dir: found.dir } : each));
    const inside = await findByRepository(moved, folder);
    return inside ?? { project: link.projectId, dir: found.dir, by: "folder" };
  }
  const known = await findByRepository(links, folder);
  if (known) return known;
  const renamed = await findRenamedTo(createGit(), links, folder);
  if (renamed) throw new CommandFailed(renamedShown(renamed));
  const linking = `${folder} is not linked: run \`memsync up\` there`;
  // A command in which a project was named has an option or an argument for another one.
  throw new CommandFailed(
    named === undefined
      ? `${linking}, or say --project`
      : `${linking}, or name one of \`memsync projects\`${await othersNamedSo(db, named)}`,
    { code: "unlinked" },
  );
}

/** By the repository that a folder is in. Throws where several could be meant. */
async function findByRepository(
  links: readonly Link[],
  folder: string,
): Promise<PlaceInProject | undefined> {
  const search = await new FolderProjects(createGit()).findAnywhere(folder, links);
  if (search.kind === "lost") throw new LostFolder(lostTreeShown(search.lost));
  if (search.kind !== "unsure") return search.kind === "found" ? search.place : undefined;
  const folders = search.links.map((link) => `${link.dir} (${link.projectId})`).join(", ");
  throw new CommandFailed(
    `${folder} is in a clone of ${search.origin}, and that repository may by now be another one: ` +
      `it may belong to ${folders}. Name the project by its id, or set its origin to the folder ` +
      "that it is a clone of, with `git remote set-url origin DIR`",
  );
}

async function othersNamedSo(db: Kysely<DaemonTables> | undefined, named: string): Promise<string> {
  const { namedProjects } = await import("./project-names.ts");
  const known = await namedProjects(db);
  const ids = new Set(known.flatMap(({ id, name }) => (name === named ? [id] : [])));
  return ids.size === 0 ? "" : `; ${[...ids].join(", ")} is named so: say the id`;
}
