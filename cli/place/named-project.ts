import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { CommandFailed } from "../screen/errors.ts";
import type { Environment } from "./environment.ts";
import { findMeantProject } from "./find-project.ts";
import { namedProjects, oneNamed } from "./project-names.ts";

/**
 * The project that is named by its id, its folder or its name, linked here or not. Refuses an
 * ambiguous name, because the command affects the project on every machine.
 */
export async function findNamedProject(
  db: Kysely<DaemonTables> | undefined,
  named: string,
  env: Pick<Environment, "home" | "dir">,
): Promise<ProjectId> {
  const known = parseProjectId(named) === undefined ? await namedProjects(db) : [];
  const id = oneNamed(known, named);
  const folder = resolve(env.dir, named);
  if (id === undefined) return await findMeantProject(db, named, env);
  if (!existsSync(folder) || (await findMeantProject(db, named, env).catch(() => undefined)) === id)
    return id;
  throw new CommandFailed(
    `${named} is a folder here, and the name of ${id}: say ./${named}, or ${id}`,
    { code: "ambiguous" },
  );
}
