import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import { PROJECT_NAME_KEY } from "../../shared/replica/document/document.ts";
import { findLinkedName } from "./links.ts";
import { readProjectMetadata } from "./project-metadata.ts";
import type { DaemonTables } from "./tables.ts";

/**
 * A project's name on this machine, linked or not: the one in its last link, else the one that its
 * creator gave; undefined where there is neither.
 */
export async function findProjectName(
  db: Kysely<DaemonTables>,
  project: ProjectId,
): Promise<string | undefined> {
  const linked = await findLinkedName(db, project);
  if (linked !== undefined) return linked;
  const name = await readProjectMetadata(db, project, PROJECT_NAME_KEY);
  return typeof name === "string" && name !== "" ? name : undefined;
}
