import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Kysely } from "kysely";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { type Link, listLinks } from "../links.ts";
import { findLinkAbove } from "../move-link.ts";
import { identifyProject } from "../sources/identity.ts";
import { createGit } from "../sources/run-git.ts";
import { projectFolder, realPathOf } from "../sources/working-tree.ts";
import type { DaemonTables } from "../tables.ts";
import { CommandFailed } from "./errors.ts";

/**
 * The project that a command is about: `named` is a project's id or a folder, else the current
 * folder counts. A folder's project is that of the nearest linked folder above it, or one that is
 * followed elsewhere on this machine under the same identity, as another worktree is, or was linked
 * before it was moved. Refuses a named folder that is not there.
 */
export async function findProject(
  db: Kysely<DaemonTables> | undefined,
  named: string | undefined,
  dir: string,
): Promise<ProjectId> {
  const id = named === undefined ? undefined : parseProjectId(named);
  if (id !== undefined) return id;
  const folder = await realPathOf(resolve(dir, named ?? "."));
  const links = db ? await listLinks(db) : [];
  const link = nearestLink(links, folder);
  // Nobody means the project around a folder whose name was mistyped; a linked one may be away.
  if (named !== undefined && !existsSync(folder) && (!link || existsSync(link.dir))) {
    throw new CommandFailed(`there is no folder ${folder}, and ${named} is no project's id`);
  }
  if (link) return link.projectId;
  const git = createGit();
  const identity = await identifyProject(git, await projectFolder(git, folder));
  const known = links.find((each) => {
    return identity.kind !== "none" && each.projectId === identity.projectId;
  });
  if (known) return known.projectId;
  const moved = db && (await findLinkAbove(db, links, folder));
  if (moved) return moved.projectId;
  throw new CommandFailed(
    `${folder} is not linked: run \`memsync up\` or \`memsync link\` there, or say --project`,
  );
}

function nearestLink(links: readonly Link[], folder: string): Link | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const link = links.find((each) => each.dir === at);
    if (link || at === dirname(at)) return link;
  }
}
