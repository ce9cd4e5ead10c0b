import type { Kysely } from "kysely";
import { AssertionError } from "../../shared/errors.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { findSnapshot, snapshotUpdate } from "../../shared/replica/log/log-rows.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import { joinForm } from "../../shared/replica/text/text-form.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { isPlain, type SyncPosition } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import { readPlain } from "../plain/plain-store.ts";

type Db = Kysely<DaemonTables>;

/** Nothing is written under this client id: a document loaded here is only read. */
const READER_CLIENT = 0;

/** The readable content of a document: values by key (metadata as JSON), and the text. */
export interface DocumentContent {
  readonly memories: ReadonlyMap<string, string>;
  readonly metadata: ReadonlyMap<string, string>;
  readonly text: string;
}

export const NO_CONTENT: DocumentContent = { memories: new Map(), metadata: new Map(), text: "" };

/**
 * A document as the service is known to have it; it may have a newer one. Undefined where this is
 * unknown because sent and unsent writes are in one snapshot.
 */
export async function knownState(
  db: Db,
  documentId: number,
  position: SyncPosition,
): Promise<DocumentContent | undefined> {
  if (isPlain(position)) return await plainState(db, documentId);
  // With a token that may only read, nothing is ever acknowledged, but what came is there.
  if (position.ackedSeq === 0 && !position.remote) return NO_CONTENT;
  const known = await knownDocument(db, documentId, position.ackedSeq);
  return known && documentContent(known);
}

/**
 * A document without the writes that no service has acknowledged. Undefined where sent and unsent
 * writes are in one snapshot.
 */
export async function knownDocument(
  db: Db,
  documentId: number,
  ackedSeq: number,
): Promise<ReplicaDocument | undefined> {
  const snapshot = await findSnapshot(narrowTables(db), documentId);
  if (snapshot && snapshot.seq > ackedSeq) return undefined;
  const rows = await db
    .selectFrom("updates")
    .select("payload")
    .where("document_id", "=", documentId)
    .where("seq", ">", snapshot?.seq ?? 0)
    .where((where) => where.or([where("seq", "<=", ackedSeq), where("origin", "=", "remote")]))
    .orderBy("seq")
    .execute();
  const first = snapshot ? [snapshotUpdate(snapshot)] : [];
  return documentOrNone([...first, ...rows.map(({ payload }) => payload)]);
}

/** Undefined where the rows depend on others that are missing. */
function documentOrNone(updates: readonly Uint8Array[]): ReplicaDocument | undefined {
  try {
    return new ReplicaDocument(updates, READER_CLIENT);
  } catch (thrown) {
    if (thrown instanceof AssertionError) return undefined;
    throw thrown;
  }
}

/** The readable content of a document; of metadata only what is sent to services. */
export function documentContent(document: ReplicaDocument): DocumentContent {
  const memories = new Map<string, string>();
  for (const key of document.memories.keys()) {
    memories.set(key, String(document.memories.get(key)[0]?.value));
  }
  const metadata = new Map<string, string>();
  for (const key of [...document.metadata.keys()].filter(isPublicKey)) {
    metadata.set(key, JSON.stringify(document.metadata.get(key)[0]?.value));
  }
  return { memories, metadata, text: document.content() };
}

async function plainState(db: Db, documentId: number): Promise<DocumentContent> {
  const known = await readPlain(db, documentId);
  if (!known) return NO_CONTENT;
  const version = known.text.pushed ?? known.text.agreed;
  const values = [...known.memories].map(([key, { value }]) => [key, String(value)] as const);
  const metadata = [...known.metadata].map(([key, { value }]) => {
    return [key, JSON.stringify(value)] as const;
  });
  return {
    memories: new Map(values),
    metadata: new Map(metadata),
    text: version ? joinForm(version.base.text, version.form) : "",
  };
}
