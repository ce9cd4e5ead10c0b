import type { Kysely } from "kysely";
import type { JsonValue } from "../../json.ts";
import { compiled } from "../../sqlite/compiled.ts";
import type { Pause } from "../../turns.ts";
import { DELETION_KEY } from "../document/deletion-entry.ts";
import type { DocumentChanges, ReplicaDocument } from "../document/document.ts";
import type { Entry } from "../document/entry-index.ts";
import { machineName } from "../document/machine-name.ts";
import { OWN_METADATA_PREFIX, TRIMMED_PREFIX } from "../document/own-metadata.ts";
import { deletionOf } from "../document/project-deletion.ts";
import { addRevision, HISTORY } from "../history/revisions.ts";
import { machineOf } from "../log/machines.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { RowChange } from "../search/full-text.ts";
import { writeMemories } from "./memory-rows.ts";

type Db = Kysely<ReplicaTables>;

/** Whose rows to write, and at which time. */
export interface RowsTarget {
  readonly documentId: number;
  readonly name: string;
  readonly now: number;
  /** This machine's name, if the change was made here and it has one. */
  readonly machine: string | undefined;
  /** May end the turn between two steps. */
  readonly pause?: Pause | undefined;
}

/**
 * Updates the rows that are derived from a document (memories, text, metadata), and stores replaced
 * values as revisions. To be called in the transaction of the change. The full-text index needs the
 * result at its end.
 */
export async function writeRows(
  db: Db,
  target: RowsTarget,
  { document, changes }: { readonly document: ReplicaDocument; readonly changes: DocumentChanges },
): Promise<RowChange[]> {
  // Before metadata rows are changed, because they tell which machines wrote what is replaced.
  await keepReplaced(db, target, { document, replaced: changes.replaced });
  const rowChanges = await writeMemories(db, target, { document, keys: [...changes.memoryKeys] });
  for (const key of changes.metadataKeys) {
    const winner = document.metadata.get(key)[0];
    if (winner)
      putMetadata.now(db, {
        documentId: target.documentId,
        key,
        value: JSON.stringify(winner.value),
      });
    else dropMetadata.now(db, { documentId: target.documentId, key });
  }
  if (changes.text) await writeText(db, target, { document, documentChanges: changes });
  return rowChanges;
}

/** Stores deleted entries as revisions, oldest first. */
async function keepReplaced(
  db: Db,
  { documentId, now: replacedAt, pause }: RowsTarget,
  {
    document,
    replaced,
  }: { readonly document: ReplicaDocument; readonly replaced: readonly Entry[] },
): Promise<void> {
  for (const { id, key, value: stored, updated_at: writtenAt } of worthKeeping(
    document,
    replaced,
  )) {
    const machine = machineOf(db, documentId, { document, client: id.client });
    const value = String(stored);
    const revision = { kind: "memory", key, value, writtenAt, replacedAt, machine } as const;
    await addRevision(db, documentId, revision);
    await pause?.();
  }
}

/** Without those that an equal value followed, and for each key at most as many as are kept. */
function worthKeeping(document: ReplicaDocument, replaced: readonly Entry[]): Entry[] {
  const later = new Map<string, JsonValue>();
  const counts = new Map<string, number>();
  const latestFirst = [...replaced].sort((one, other) => other.updated_at - one.updated_at);
  const kept = latestFirst.filter(({ key, value }) => {
    const next = later.get(key) ?? document.memories.get(key)[0]?.value;
    later.set(key, value);
    if (next === value) return false;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= HISTORY.revisionsPerKey;
  });
  return kept.reverse();
}

async function writeText(
  db: Db,
  { documentId, now, machine: here }: RowsTarget,
  {
    document,
    documentChanges: { textClients, metadataKeys },
  }: { readonly document: ReplicaDocument; readonly documentChanges: DocumentChanges },
): Promise<void> {
  const content = document.content();
  const [replaced] = findText.now(db, { documentId });
  if (replaced?.content === content) return;
  if (replaced) {
    const { content: value, updated_at: writtenAt, machine } = replaced;
    await addRevision(db, documentId, {
      kind: "text",
      key: "",
      value,
      writtenAt,
      replacedAt: now,
      machine: machine ?? undefined,
    });
  }
  const names = new Set<string | undefined>();
  for (const client of textClients) names.add(machineOf(db, documentId, { document, client }));
  for (const key of metadataKeys) {
    if (key.startsWith(TRIMMED_PREFIX)) names.add(machineName(key.slice(TRIMMED_PREFIX.length)));
    else if (key === DELETION_KEY) names.add(deletionOf(document)?.machine);
  }
  if (textClients.size === 0) names.add(here);
  const machines = [...names].filter((name) => name !== undefined).sort();
  putText.now(db, { documentId, content, updatedAt: now, machine: machines.join(", ") || null });
}

/** A document's text, from its rows; undefined if there never was any. */
export function storedText(db: Db, documentId: number): string | undefined {
  return findText.now(db, { documentId })[0]?.content;
}

/** The machines that last changed a document's text, from its rows. */
export function storedTextMachine(db: Db, documentId: number): string | undefined {
  return findText.now(db, { documentId })[0]?.machine ?? undefined;
}

/** Whether clients of the interface can see a metadata key. */
export function isPublicKey(key: string): boolean {
  return !key.startsWith(OWN_METADATA_PREFIX);
}

const putMetadata = compiled(
  (db: Db, given: { readonly documentId: number; readonly key: string; readonly value: string }) =>
    db
      .insertInto("metadata")
      .values({ document_id: given.documentId, key: given.key, value: given.value })
      .onConflict((conflict) =>
        conflict
          .columns(["document_id", "key"])
          .doUpdateSet((excluded) => ({ value: excluded.ref("excluded.value") })),
      ),
);

const dropMetadata = compiled(
  (db: Db, { documentId, key }: { readonly documentId: number; readonly key: string }) =>
    db.deleteFrom("metadata").where("document_id", "=", documentId).where("key", "=", key),
);

const findText = compiled((db: Db, { documentId }: { readonly documentId: number }) =>
  db
    .selectFrom("texts")
    .select(["content", "updated_at", "machine"])
    .where("document_id", "=", documentId),
);

const putText = compiled(
  (
    db: Db,
    given: {
      readonly documentId: number;
      readonly content: string;
      readonly updatedAt: number;
      readonly machine: string | null;
    },
  ) =>
    db
      .insertInto("texts")
      .values({
        document_id: given.documentId,
        content: given.content,
        updated_at: given.updatedAt,
        machine: given.machine,
      })
      .onConflict((conflict) =>
        conflict.column("document_id").doUpdateSet((excluded) => ({
          content: excluded.ref("excluded.content"),
          updated_at: excluded.ref("excluded.updated_at"),
          machine: excluded.ref("excluded.machine"),
        })),
      ),
);
