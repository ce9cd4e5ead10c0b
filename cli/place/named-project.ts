import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Kysely } from "kysely";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { listLinks } from "../../daemon/home/links.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listUnlinked } from "../../daemon/home/unlinked-projects.ts";
import type { Environment } from "./environment.ts";
import { CommandFailed } from "../screen/errors.ts";
import { findProject } from "./find-project.ts";

/**
 * The project that is named by its id, its folder or its name, be it linked here or not. Refuses a
 * name that could mean two things: what is done to the project is done everywhere.
 */
export async function findNamedProject(
  db: Kysely<DaemonTables> | undefined,
  named: string,
  env: Pick<Environment, "home" | "dir">,
): Promise<ProjectId> {
  const ids = db && parseProjectId(named) === undefined ? await idsOfName(db, named) : [];
  const [id, ...others] = ids;
  if (id === undefined) return await findProject(db, named, env);
  if (others.length > 0) {
    throw new CommandFailed(`several projects are named ${named}: say which by ${ids.join(", ")}`);
  }
  const isFolder = existsSync(resolve(env.dir, named));
  if (!isFolder || (await findProject(db, named, env).catch(() => undefined)) === id) return id;
  throw new CommandFailed(
    `${named} is a folder here, and the name of ${id}: say ./${named}, or ${id}`,
  );
}

async function idsOfName(db: Kysely<DaemonTables>, named: string): Promise<ProjectId[]> {
  const links = await listLinks(db);
  const linked = links.map(({ projectId: id, name }) => ({ id, name }));
  const all = [...linked, ...(await listUnlinked(db, links))];
  return [...new Set(all.flatMap(({ id, name }) => (name === named ? [id] : [])))];
}
