import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { type DeletionStatus, deletionStatus, readDeletion } from "../home/deleted-project.ts";
import type { JoinedStatus } from "../home/joined-status.ts";
import { ALL_LAST_WORDS, lastWordsSeq } from "../home/last-words.ts";
import type { Link } from "../home/links.ts";
import {
  countUnacknowledged,
  isPlain,
  readPosition,
  type SyncPosition,
} from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import {
  countSavedMemories,
  listUnlinked,
  type UnlinkedDocument,
} from "../home/unlinked-projects.ts";
import { readPlainStatus, type StatusNote } from "../plain/plain-status.ts";
import { joinsOfUnlinked } from "./joined-projects.ts";

type Db = Kysely<DaemonTables>;

/** How far a document is synced with a service. */
export interface DocumentSync {
  readonly position: SyncPosition;
  /** How many of its changes the service has not acknowledged. */
  readonly waiting: number;
  readonly notes: readonly StatusNote[];
}

/** What a home knows of a document's sync with `service`. */
export async function readDocumentSync(
  db: Db,
  service: string,
  documentId: number,
): Promise<DocumentSync> {
  const position = await readPosition(db, service, documentId);
  const unacknowledged = await countUnacknowledged(db, documentId, position);
  if (!isPlain(position)) return { position, waiting: unacknowledged, notes: [] };
  const { outstanding, notes } = await readPlainStatus(db, documentId);
  return { position, waiting: unacknowledged + outstanding, notes };
}

/** An unlinked project as any status lists it. */
export interface ListedProject extends UnlinkedDocument, DocumentSync {
  /** Null for a project that is there. */
  readonly deleted: DeletionStatus | null;
  readonly joined: readonly JoinedStatus[];
  /** How many of the changes that wait are sent without a link. */
  readonly sending: number;
}

/** A service without a log is told of a deletion by a round about all that is there. */
async function countSending(
  db: Db,
  documentId: number,
  { position, waiting, isDeleted }: DocumentSync & { readonly isDeleted: boolean },
): Promise<number> {
  if (isPlain(position)) return isDeleted ? waiting : 0;
  const { ackedSeq } = position;
  const untilSeq = await lastWordsSeq(db, documentId, { ackedSeq, words: ALL_LAST_WORDS });
  return await countUnacknowledged(db, documentId, { ackedSeq, untilSeq: untilSeq ?? ackedSeq });
}

/**
 * The projects that no link names, with or without a daemon. One whose deletion was sent is not
 * there any more, unless memories were written to it since, which are nowhere else. `serviceOf`
 * gives the name of an account's service.
 */
export async function listUnlinkedProjects(
  db: Db,
  links: readonly Link[],
  serviceOf: (account: AccountId) => string,
): Promise<ListedProject[]> {
  const listed: ListedProject[] = [];
  for (const each of await listUnlinked(db, links)) {
    const deleted = deletionStatus(await readDeletion(db, each.id));
    const sync = await readDocumentSync(db, serviceOf(each.account), each.documentId);
    const isThere = !deleted || sync.waiting > 0;
    if (isThere || (await countSavedMemories(db, each.documentId)) > 0) {
      const joined = await joinsOfUnlinked(db, each.id);
      const sending = await countSending(db, each.documentId, {
        ...sync,
        isDeleted: deleted !== null,
      });
      listed.push({ ...each, ...sync, deleted, joined, sending });
    }
  }
  return listed;
}
