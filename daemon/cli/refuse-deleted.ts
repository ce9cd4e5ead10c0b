import type { Kysely } from "kysely";
import { readDeletion } from "../deleted-project.ts";
import type { DaemonTables } from "../tables.ts";
import { CommandFailed } from "./errors.ts";
import { timeShown } from "./version-view.ts";

/** Throws for a project that was deleted: what is written into it nobody would see. */
export async function refuseDeleted(
  db: Kysely<DaemonTables> | undefined,
  project: string,
): Promise<void> {
  const deletion = db && (await readDeletion(db, project));
  if (!deletion) return;
  const by = deletion.machine === undefined ? "" : ` on ${deletion.machine}`;
  throw new CommandFailed(
    `${project} was deleted ${timeShown(deletion.at)}${by}: \`memsync link --anew\` begins it anew`,
  );
}
