import { type Kysely, sql } from "kysely";
import { memoryIdOf } from "../../ids.ts";
import type { JsonValue } from "../../json.ts";
import { compilable, compiled } from "../../sqlite/compiled.ts";
import { isPostgres } from "../../sqlite/dialects.ts";
import { compiledForMany, ROWS_AT_ONCE } from "../../sqlite/many.ts";
import { chunksOf, type Pause } from "../../turns.ts";
import { wireDocumentId } from "../document/address.ts";
import { DELETION_KEY } from "../document/deletion-entry.ts";
import type { DocumentChanges, ReplicaDocument } from "../document/document.ts";
import type { Entry } from "../document/entry-index.ts";
import { machineName } from "../document/machine-name.ts";
import { disagree } from "../document/memory-deletion.ts";
import { OWN_METADATA_PREFIX, removedKey, TRIMMED_PREFIX } from "../document/own-metadata.ts";
import { deletionOf } from "../document/project-deletion.ts";
import { HISTORY, type Revision } from "../history/revisions.ts";
import { machineIn, machineKey, machineKnown } from "../log/machines.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { DerivedRows, FormerRow, NewMemory } from "./row-batch.ts";

type Db = Kysely<ReplicaTables>;

/** Whose rows to derive, and at which time. */
export interface RowsTarget {
  readonly documentId: number;
  readonly name: string;
  readonly now: number;
  /** This machine's name, if the change was made here and it has one. */
  readonly machine: string | undefined;
  /** May end the turn between two steps. */
  readonly pause: Pause;
}

/**
 * What a change does to the rows that are derived from its document (memories, text, metadata), and
 * which values it replaced. Reads the rows as they are before it, and writes nothing.
 */
export async function deriveRows(db: Db, target: RowsTarget, given: Changed): Promise<DerivedRows> {
  const { document, changes } = given;
  const text = changes.text ? await deriveText(db, target, given) : undefined;
  const revisions = [
    ...(await memoryRevisions(db, target, given)),
    ...(text?.replaced ? [text.replaced] : []),
  ];
  const metadata = [...changes.metadataKeys].map((key) => {
    return [key, metadataShown(key, document.metadata.get(key))] as const;
  });
  return {
    revisions,
    ...(await deriveMemories(db, target, { document, keys: [...changes.memoryKeys] })),
    metadata: new Map(metadata),
    text: text?.row,
  };
}

/** The latest value of a key. Of deletions that say different things of a memory all are shown. */
function metadataShown(key: string, entries: readonly Entry[]): string | undefined {
  const values = entries.map(({ value }) => value);
  const isWhole = removedKey(key) !== undefined && disagree(entries);
  return values.length === 0 ? undefined : JSON.stringify(isWhole ? values : values[0]);
}

interface Changed {
  readonly document: ReplicaDocument;
  readonly changes: DocumentChanges;
}

/**
 * Deleted entries as revisions, by key and then oldest first: filed one after another, those of a
 * long write then change each page of the index once.
 */
async function memoryRevisions(
  db: Db,
  { documentId, now: replacedAt, pause }: RowsTarget,
  { document, changes: { replaced, metadataKeys } }: Changed,
): Promise<Revision[]> {
  const revisions: Revision[] = [];
  const kept = await worthKeeping(document, replaced, pause);
  for (const some of chunksOf(kept, ROWS_AT_ONCE)) {
    await pause();
    for (const { id, key, value: stored, updated_at: writtenAt } of some) {
      // The rows know more than the document only about a machine whose name goes with this change.
      const mayBeGone = metadataKeys.has(machineKey(id.client));
      const machine = mayBeGone
        ? await machineKnown(db, documentId, { document, client: id.client })
        : machineIn(document, id.client);
      const value = String(stored);
      revisions.push({ kind: "memory", key, value, writtenAt, replacedAt, machine });
    }
  }
  return revisions.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
}

/**
 * Leaves out values that an equal one followed, and for each key those beyond the number that is
 * kept.
 */
async function worthKeeping(
  document: ReplicaDocument,
  replaced: readonly Entry[],
  pause: Pause,
): Promise<Entry[]> {
  const later = new Map<string, JsonValue>();
  const counts = new Map<string, number>();
  const isWorth = ({ key, value }: Entry) => {
    const next = later.get(key) ?? document.memories.get(key)[0]?.value;
    later.set(key, value);
    if (next === value) return false;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= HISTORY.revisionsPerKey;
  };
  const latestFirst = [...replaced].sort((one, other) => other.updated_at - one.updated_at);
  const kept: Entry[] = [];
  for (const some of chunksOf(latestFirst, ROWS_AT_ONCE)) {
    await pause();
    kept.push(...some.filter(isWorth));
  }
  return kept.reverse();
}

/** The changes of the memories' rows. No key may be named twice. */
async function deriveMemories(
  db: Db,
  { documentId, name, pause }: RowsTarget,
  { document, keys }: { readonly document: ReplicaDocument; readonly keys: readonly string[] },
): Promise<Pick<DerivedRows, "replacedMemories" | "addedMemories">> {
  const replacedMemories: DerivedRows["replacedMemories"][number][] = [];
  const addedMemories: NewMemory[] = [];
  const all = isPostgres(db) ? byKey(await findTogether(db, documentId, keys)) : undefined;
  for (const some of chunksOf(keys, ROWS_AT_ONCE)) {
    await pause();
    const asked = some.map((key) => ({ documentId, key }));
    const former = all ?? byKey(await findMemories(db, asked));
    for (const key of some) {
      const after = rowOf({ documentId, name }, { document, key });
      const before = former.get(key);
      if (before) replacedMemories.push({ before, after });
      else if (after) addedMemories.push(after);
    }
  }
  return { replacedMemories, addedMemories };
}

function rowOf(
  { documentId, name }: Pick<RowsTarget, "documentId" | "name">,
  { document, key }: { readonly document: ReplicaDocument; readonly key: string },
): NewMemory | undefined {
  const entries = document.memories.get(key);
  const winner = entries[0];
  if (!winner) return undefined;
  // Whoever reads the row has seen the deletions, too.
  const known = [...entries, ...document.deletionsOf(key)];
  return {
    documentId,
    key,
    memoryId: memoryIdOf(wireDocumentId(name), key),
    value: String(winner.value),
    createdAt: winner.created_at,
    updatedAt: winner.updated_at,
    entryIds: JSON.stringify(known.map(({ id }) => [id.client, id.clock])),
  };
}

/** The text's row if it changes, and the text that it replaces. */
async function deriveText(
  db: Db,
  { documentId, now, machine: here }: RowsTarget,
  { document, changes: { textClients, metadataKeys } }: Changed,
): Promise<{ row: NonNullable<DerivedRows["text"]>; replaced: Revision | undefined } | undefined> {
  const content = document.content();
  const [former] = await findText(db, { documentId });
  if (former?.content === content) return undefined;
  const names = new Set<string | undefined>();
  for (const client of textClients) {
    // A machine's name that goes with this change no longer counts.
    const isTold = metadataKeys.has(machineKey(client));
    names.add(
      isTold
        ? machineIn(document, client)
        : await machineKnown(db, documentId, { document, client }),
    );
  }
  for (const key of metadataKeys) {
    if (key.startsWith(TRIMMED_PREFIX)) names.add(machineName(key.slice(TRIMMED_PREFIX.length)));
    else if (key === DELETION_KEY) names.add(deletionOf(document)?.machine);
  }
  if (textClients.size === 0) names.add(here);
  const machines = [...names].filter((name) => name !== undefined).sort();
  return {
    row: { content, machine: machines.join(", ") || null },
    replaced: former && {
      kind: "text",
      key: "",
      value: former.content,
      writtenAt: former.updated_at,
      replacedAt: now,
      machine: former.machine ?? undefined,
    },
  };
}

/** A document's text, from its rows; undefined if there never was any. */
export async function storedText(db: Db, documentId: number): Promise<string | undefined> {
  const [row] = await findText(db, { documentId });
  return row?.content;
}

/** The machines that last changed a document's text, from its rows. */
export function storedTextMachine(db: Db, documentId: number): string | undefined {
  return findText.now(db, { documentId })[0]?.machine ?? undefined;
}

/** Whether clients of the interface can see a metadata key. */
export function isPublicKey(key: string): boolean {
  return !key.startsWith(OWN_METADATA_PREFIX);
}

type KeyOf = { readonly documentId: number; readonly key: string };

const findMemories = compiledForMany((db: Db, rows: readonly KeyOf[]) =>
  db
    .selectFrom("memories")
    .select(["row_id", "key", "value", "created_at"])
    .where("document_id", "=", rows[0]?.documentId ?? 0)
    .where(
      "key",
      "in",
      rows.map(({ key }) => key),
    ),
);

/** PostgreSQL hashes as many keys within the memory that it gives to it, however little. */
const AMONG_ALL_MAX = 8192;

/**
 * PostgreSQL may read all of a document for a list of keys, as long as it takes the document for a
 * small one. So there a long list reads the document, once: `is true` keeps the database from
 * comparing each row with each key.
 */
async function findTogether(
  db: Db,
  documentId: number,
  keys: readonly string[],
): Promise<FormerRow[]> {
  if (keys.length <= ROWS_AT_ONCE) {
    return await findMemories(
      db,
      keys.map((key) => ({ documentId, key })),
    );
  }
  const found: FormerRow[][] = [];
  for (const some of chunksOf(keys, AMONG_ALL_MAX)) {
    found.push(await findAmongAll(db, { documentId, keys: some }));
  }
  return found.flat();
}

const findAmongAll = compiled(
  (db: Db, given: { readonly documentId: number; readonly keys: readonly string[] }) =>
    compilable(
      db,
      sql<FormerRow>`select row_id, key, value, created_at from memories
        where document_id = ${given.documentId}
          and (key in (select unnest(${given.keys}::text[]))) is true`,
    ),
);

function byKey(rows: readonly FormerRow[]): ReadonlyMap<string, FormerRow> {
  return new Map(rows.map((row) => [row.key, row]));
}

const findText = compiled((db: Db, { documentId }: { readonly documentId: number }) =>
  db
    .selectFrom("texts")
    .select(["content", "updated_at", "machine"])
    .where("document_id", "=", documentId),
);
