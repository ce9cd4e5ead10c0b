import type { Kysely } from "kysely";
import { readDeletion } from "../../daemon/home/deleted-project.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ProjectDeletion } from "../../shared/replica/document/deletion-entry.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { CommandFailed } from "../screen/errors.ts";
import { sayAside } from "../screen/output.ts";
import { timeShown } from "../views/version-view.ts";

/** Throws for a deleted project: nobody would see what is written to it. */
export async function refuseDeleted(
  db: Kysely<DaemonTables> | undefined,
  project: string,
): Promise<void> {
  const deletion = db && (await readDeletion(db, project));
  if (deletion) throw new CommandFailed(wasDeleted(project, deletion), { code: "deleted" });
}

/** Nothing is left to read of a deleted project, which looks as if nothing had ever been there. */
export async function sayIfDeleted(env: Environment, project: string): Promise<void> {
  const deletion = await withLocal(env, async (db) => db && (await readDeletion(db, project)));
  if (deletion) sayAside(wasDeleted(project, deletion));
}

/** When and where a project was deleted, and how to begin it again. */
export function wasDeleted(project: string, { at, machine }: ProjectDeletion): string {
  const by = machine === undefined ? "" : ` on ${machine}`;
  return `${project} was deleted ${timeShown(at)}${by}: \`memsync link --anew\` begins it anew`;
}
