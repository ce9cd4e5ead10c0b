import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Kysely } from "kysely";
import { listLinks } from "../../daemon/home/links.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listUnlinked } from "../../daemon/home/unlinked-projects.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { didYouMean } from "../screen/did-you-mean.ts";
import { CommandFailed } from "../screen/errors.ts";
import type { Environment } from "./environment.ts";
import { findMeantProject } from "./find-project.ts";

/**
 * The project that is named by its id, its folder or its name, be it linked here or not. Refuses a
 * name that could mean two things: what is done to the project is done everywhere.
 */
export async function findNamedProject(
  db: Kysely<DaemonTables> | undefined,
  named: string,
  env: Pick<Environment, "home" | "dir">,
): Promise<ProjectId> {
  const known = db && parseProjectId(named) === undefined ? await namedProjects(db) : [];
  const [id, ...others] = new Set(known.flatMap((each) => (each.name === named ? [each.id] : [])));
  const folder = resolve(env.dir, named);
  if (id === undefined) {
    return await findMeantProject(db, named, env).catch((thrown) => {
      if (parseProjectId(named) !== undefined || existsSync(folder)) throw thrown;
      throw new CommandFailed(nobodyIsNamed(named, known));
    });
  }
  if (others.length > 0) {
    throw new CommandFailed(
      `several projects are named ${named}: say which by ${[id, ...others].join(", ")}`,
    );
  }
  if (!existsSync(folder) || (await findMeantProject(db, named, env).catch(() => undefined)) === id)
    return id;
  throw new CommandFailed(
    `${named} is a folder here, and the name of ${id}: say ./${named}, or ${id}`,
  );
}

interface Named {
  readonly id: ProjectId;
  readonly name: string | null;
}

async function namedProjects(db: Kysely<DaemonTables>): Promise<Named[]> {
  const links = await listLinks(db);
  const linked = links.map(({ projectId: id, name }) => ({ id, name }));
  return [...linked, ...(await listUnlinked(db, links))];
}

function nobodyIsNamed(named: string, known: readonly Named[]): string {
  const names = known.flatMap(({ name }) => name ?? []);
  const nearly = didYouMean(named, names) || "; `memsync projects` lists those there are";
  return `${named} is no project's name or id on this machine, and no folder${nearly}`;
}
