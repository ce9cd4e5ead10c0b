import type { Kysely } from "kysely";
import { listLinks } from "../../daemon/home/links.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listUnlinked } from "../../daemon/home/unlinked-projects.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { didYouMean } from "../screen/did-you-mean.ts";
import { CommandFailed } from "../screen/errors.ts";

/** A project of this home, with its name; null where it has none. */
export interface NamedProject {
  readonly id: ProjectId;
  readonly name: string | null;
}

/** All projects in the home that have a name, linked here or not. */
export async function namedProjects(
  db: Kysely<DaemonTables> | undefined,
): Promise<readonly NamedProject[]> {
  if (!db) return [];
  const links = await listLinks(db);
  const linked = links.map(({ projectId: id, name }) => ({ id, name }));
  return [...linked, ...(await listUnlinked(db, links))];
}

/** The one project with this name, if there is one. Throws where there are several. */
export function oneNamed(known: readonly NamedProject[], named: string): ProjectId | undefined {
  const [id, ...others] = new Set(known.flatMap((each) => (each.name === named ? [each.id] : [])));
  if (others.length === 0) return id;
  const ids = [id, ...others].join(", ");
  throw new CommandFailed(`several projects are named ${named}: say which by ${ids}`, {
    code: "ambiguous",
  });
}

/** The project with this name, if there is no folder with it. */
export async function findByName(
  db: Kysely<DaemonTables> | undefined,
  named: string,
  folder: string,
): Promise<ProjectId> {
  const known = await namedProjects(db);
  const id = oneNamed(known, named);
  if (id !== undefined) return id;
  const names = known.flatMap(({ name }) => name ?? []);
  const nearly = didYouMean(named, names) || "; `memsync projects` lists those there are";
  throw new CommandFailed(
    `there is no folder ${folder}, and ${named} is no project's id or name${nearly}`,
    { code: "not-found" },
  );
}
