import type { Kysely } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { DELETION_KEY } from "../../shared/replica/document/deletion-entry.ts";
import type { Link } from "./links.ts";
import { countUnacknowledged, readPosition } from "./positions.ts";
import { findProjectName } from "./project-name.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** A project that the home has a document of, and that no folder here is linked to. */
export interface UnlinkedDocument {
  readonly id: ProjectId;
  readonly documentId: number;
  /** As its last link here named it, else whoever made it; null where nobody did. */
  readonly name: string | null;
  readonly account: AccountId;
}

/** Projects get here through the gateway, too, and stay when their folder is unlinked. */
export async function listUnlinked(db: Db, links: readonly Link[]): Promise<UnlinkedDocument[]> {
  const linked = new Set<string>(links.map(({ projectId }) => projectId));
  const documents = await db
    .selectFrom("documents")
    .select(["id", "name", "owner"])
    .orderBy("id")
    .execute();
  const unlinked: UnlinkedDocument[] = [];
  for (const { id: documentId, name: document, owner } of documents) {
    const id = projectOf(document);
    if (id === undefined || linked.has(id)) continue;
    const name = (await findProjectName(db, id)) ?? null;
    unlinked.push({ id, documentId, name, account: owner as AccountId });
  }
  return unlinked;
}

/**
 * Those of them that were deleted here, which their services have not acknowledged yet: nothing
 * else of what is linked nowhere is synced. `serviceOf` names an account's service.
 */
export async function listUnsentDeletions(
  db: Db,
  links: readonly Link[],
  serviceOf: (account: AccountId) => string,
): Promise<ProjectId[]> {
  const linked = new Set<string>(links.map(({ projectId }) => projectId));
  const deleted = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select(["documents.id", "documents.name", "documents.owner"])
    .where("metadata.key", "=", DELETION_KEY)
    .orderBy("documents.id")
    .execute();
  const unsent: ProjectId[] = [];
  for (const { id: documentId, name, owner } of deleted) {
    const id = projectOf(name);
    if (id === undefined || linked.has(id)) continue;
    const { ackedSeq } = await readPosition(db, serviceOf(owner as AccountId), documentId);
    if ((await countUnacknowledged(db, documentId, ackedSeq)) > 0) unsent.push(id);
  }
  return unsent;
}

/** Memories of a document that are saved here. */
export async function countSavedMemories(db: Db, documentId: number): Promise<number> {
  const { count } = await db
    .selectFrom("memories")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("document_id", "=", documentId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
