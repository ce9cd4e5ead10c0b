import type { Kysely } from "kysely";
import {
  DELETION_KEY,
  type ProjectDeletion,
  parseDeletion,
} from "../../shared/replica/document/deletion-entry.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { readProjectMetadata } from "./project-metadata.ts";
import type { DaemonTables } from "./tables.ts";

/** A project's deletion, as in a status. */
export interface DeletionStatus {
  readonly at: string;
  /** Null where that is not known. */
  readonly machine: string | null;
}

/** Null for a project that is there. */
export function deletionStatus(deletion: ProjectDeletion | undefined): DeletionStatus | null {
  if (!deletion) return null;
  return { at: timestampOf(deletion.at), machine: deletion.machine ?? null };
}

/**
 * When and on which machine a project was deleted, from its rows; undefined for an existing one.
 */
export async function readDeletion(
  db: Kysely<DaemonTables>,
  project: string,
): Promise<ProjectDeletion | undefined> {
  const deletion = await readProjectMetadata(db, project, DELETION_KEY);
  return deletion === undefined ? undefined : parseDeletion(deletion);
}
