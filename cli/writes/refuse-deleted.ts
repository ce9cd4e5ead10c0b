import type { Kysely } from "kysely";
import { readDeletion } from "../../daemon/home/deleted-project.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { parseProjectId } from "../../shared/ids.ts";
import type { ProjectDeletion } from "../../shared/replica/document/deletion-entry.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { CommandFailed } from "../screen/errors.ts";
import { joinedTo, joinWays } from "../screen/joined-words.ts";
import { sayAside } from "../screen/output.ts";
import { timeShown } from "../views/version-view.ts";

/** Throws for a deleted project: nobody would see what is written to it. */
export async function refuseDeleted(
  db: Kysely<DaemonTables> | undefined,
  project: string,
): Promise<void> {
  const deletion = db && (await readDeletion(db, project));
  if (!db || !deletion) return;
  const told = `${wasDeleted(project, deletion)}${await wentShown(db, project)}`;
  throw new CommandFailed(told, { code: "deleted" });
}

/** Nothing is left to read of a deleted project, which looks as if nothing had ever been there. */
export async function sayIfDeleted(env: Environment, project: string): Promise<void> {
  const told = await withLocal(env, async (db) => {
    const deletion = db && (await readDeletion(db, project));
    return deletion && `${wasDeleted(project, deletion)}${await wentShown(db, project)}`;
  });
  if (told !== undefined) sayAside(told);
}

/** Where the folder of a deleted project went on another machine; empty if it did not. */
async function wentShown(db: Kysely<DaemonTables>, project: string): Promise<string> {
  const id = parseProjectId(project);
  // It loads Yjs, which no other write or reading needs.
  const { joinsOfUnlinked } = await import("../../daemon/status/joined-projects.ts");
  const joins = id === undefined ? [] : await joinsOfUnlinked(db, id);
  const [join] = joins.filter((each) => !each.is_return);
  return join ? `. It was ${joinedTo(join)}: ${joinWays(join)}` : "";
}

/** When and where a project was deleted, and how to begin it again. */
export function wasDeleted(project: string, { at, machine }: ProjectDeletion): string {
  const by = machine === undefined ? "" : ` on ${machine}`;
  return `${project} was deleted ${timeShown(at)}${by}: \`memsync link --anew\` begins it anew`;
}
