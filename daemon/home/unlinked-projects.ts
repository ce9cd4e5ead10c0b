import type { Kysely } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { LAST_WORDS, type LastWord, lastWordsSeq } from "./last-words.ts";
import type { Link } from "./links.ts";
import { isPlain, readPosition } from "./positions.ts";
import { findProjectName } from "./project-name.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** A project that is in the home and is not linked to any folder here. */
export interface UnlinkedDocument {
  readonly id: ProjectId;
  readonly documentId: number;
  /** The name in its last link, else the one that its creator gave; null where there is neither. */
  readonly name: string | null;
  readonly account: AccountId;
}

/**
 * The projects that no link names. The gateway creates such projects, too, and unlinking leaves
 * them.
 */
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
    unlinked.push({ id, documentId, name, account: owner });
  }
  return unlinked;
}

/**
 * The unlinked projects that were deleted here, or whose folder was linked to another project here,
 * of which the service has not acknowledged that. Nothing else of an unlinked project is synced.
 * `serviceOf` gives the name of an account's service.
 */
export async function listUnsent(
  db: Db,
  {
    what,
    links,
    serviceOf,
  }: {
    readonly what: LastWord;
    readonly links: readonly Link[];
    readonly serviceOf: (account: AccountId) => string;
  },
): Promise<ProjectId[]> {
  const linked = new Set<string>(links.map(({ projectId }) => projectId));
  const { from, to } = LAST_WORDS[what];
  const found = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select(["documents.id", "documents.name", "documents.owner"])
    .distinct()
    .where("metadata.key", ">=", from)
    .where("metadata.key", "<=", to)
    .orderBy("documents.id")
    .execute();
  const unsent: ProjectId[] = [];
  for (const { id: documentId, name, owner } of found) {
    const id = projectOf(name);
    if (id === undefined || linked.has(id)) continue;
    const position = await readPosition(db, serviceOf(owner), documentId);
    // A service without a log carries nothing of a join.
    if (what === "join" && isPlain(position)) continue;
    const { ackedSeq } = position;
    if (await lastWordsSeq(db, documentId, { ackedSeq, words: [what] })) unsent.push(id);
  }
  return unsent;
}

/** How many memories of a document are on this machine. */
export async function countSavedMemories(db: Db, documentId: number): Promise<number> {
  const { count } = await db
    .selectFrom("memories")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("document_id", "=", documentId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
