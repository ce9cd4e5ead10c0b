import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { didYouMean } from "../screen/did-you-mean.ts";
import { CommandFailed } from "../screen/errors.ts";

/**
 * Throws for a project of which nothing is known here, since its id is probably mistyped: it is not
 * linked, not in the replica, and no write waits for it.
 */
export async function assertKnownProject(
  db: Kysely<DaemonTables> | undefined,
  id: ProjectId,
): Promise<void> {
  const known = db ? await listKnownProjects(db) : [];
  if (known.includes(id)) return;
  const link = `\`memsync link DIR --id ${id}\``;
  const nearly = didYouMean(id, known) || `: \`memsync projects\` lists them, ${link} follows it`;
  throw new CommandFailed(`there is no project ${id} on this machine${nearly}`, {
    code: "not-found",
  });
}

/** Generated ids are longer. Shorter ones were chosen by people and may resemble each other. */
const MADE_LENGTH_MIN = 20;

/**
 * Throws for an id that is nearly that of a project here: the folder would be linked to another
 * project, and get none of the memories.
 */
export async function refuseMistyped(
  db: Kysely<DaemonTables> | undefined,
  id: string,
): Promise<void> {
  const known = db && id.length >= MADE_LENGTH_MIN ? await listKnownProjects(db) : [];
  if (known.length === 0 || known.includes(id)) return;
  const nearly = didYouMean(id, known);
  if (nearly)
    throw new CommandFailed(`there is no project ${id} on this machine${nearly}`, {
      code: "not-found",
    });
}

async function listKnownProjects(db: Kysely<DaemonTables>): Promise<string[]> {
  const documents = db.selectFrom("documents").select("name");
  const rows = await documents
    .union(db.selectFrom("links").select("project_id as name"))
    .union(db.selectFrom("inbox").select("document as name"))
    .union(db.selectFrom("held").select("document as name"))
    .union(db.selectFrom("salvaged_memories").select("document as name"))
    .orderBy("name")
    .execute();
  return rows.map(({ name }) => name).filter((name) => projectOf(name) !== undefined);
}
