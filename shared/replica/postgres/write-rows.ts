import { crc32 } from "node:zlib";
import type { Kysely } from "kysely";
import { assert } from "../../errors.ts";
import { type Statements, sessionOf } from "../../postgres/session.ts";
import type { Revision } from "../history/revisions.ts";
import { HISTORY } from "../history/revisions.ts";
import type { NewRow } from "../log/log-rows.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { spacedWords } from "../search/words.ts";
import type { NewMemory, RowBatch } from "../store/row-batch.ts";

/**
 * Writes what a flush has worked out, on PostgreSQL: each table by one statement, whatever the
 * number of rows, and all of them in one packet.
 */
export async function writeRowsOnPostgres(
  db: Kysely<ReplicaTables>,
  { documentId, now, log, derived }: RowBatch,
): Promise<void> {
  const session = sessionOf(db);
  const { revisions, metadata, text, replacedMemories, addedMemories } = derived;
  const gone = replacedMemories.filter(({ after }) => after === undefined);
  const changed = replacedMemories.flatMap(({ before, after }) => {
    return after === undefined ? [] : [{ rowId: before.row_id, ...after }];
  });
  const put = [...metadata].flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value }],
  );
  const dropped = [...metadata].flatMap(([key, value]) => (value === undefined ? [key] : []));
  await together([
    revisions.length > 0 && addRevisions(session, documentId, revisions),
    revisions.length > 0 && dropOldest(session, documentId, revisions),
    gone.length > 0 &&
      session.change("DELETE FROM memories WHERE row_id = ANY($1::bigint[])", [
        gone.map(({ before }) => before.row_id),
      ]),
    changed.length > 0 && changeMemories(session, changed),
    addedMemories.length > 0 && addMemories(session, addedMemories),
    dropped.length > 0 &&
      session.change("DELETE FROM metadata WHERE document_id = $1 AND key = ANY($2::text[])", [
        documentId,
        dropped,
      ]),
    put.length > 0 &&
      session.change(
        `INSERT INTO metadata (document_id, key, value)
        SELECT $1, * FROM unnest($2::text[], $3::text[])
        ON CONFLICT (document_id, key) DO UPDATE SET value = excluded.value`,
        [documentId, put.map(({ key }) => key), put.map(({ value }) => value)],
      ),
    text !== undefined &&
      session.change(
        `INSERT INTO texts (document_id, content, updated_at, machine) VALUES ($1, $2, $3, $4)
        ON CONFLICT (document_id) DO UPDATE SET content = excluded.content,
          updated_at = excluded.updated_at, machine = excluded.machine`,
        [documentId, text.content, now, text.machine],
      ),
    log.length > 0 && appendRows(session, documentId, log),
  ]);
}

/** Waits for all statements, so that none is still running when one has failed. */
async function together(statements: readonly (Promise<unknown> | false)[]): Promise<void> {
  const outcomes = await Promise.allSettled(statements);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

function addRevisions(session: Statements, documentId: number, revisions: readonly Revision[]) {
  return session.change(
    `INSERT INTO revisions (document_id, kind, key, value, written_at, replaced_at, machine)
    SELECT $1, kind, key, value, written_at, replaced_at, machine
    FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
      WITH ORDINALITY AS given (kind, key, value, written_at, replaced_at, machine, at)
    ORDER BY at`,
    [
      documentId,
      revisions.map(({ kind }) => kind),
      revisions.map(({ key }) => key),
      revisions.map(({ value }) => value),
      revisions.map(({ writtenAt }) => writtenAt),
      revisions.map(({ replacedAt }) => replacedAt),
      revisions.map(({ machine }) => machine ?? null),
    ],
  );
}

/** Deletes the revisions beyond what is kept, for each key that has just got some. */
function dropOldest(session: Statements, documentId: number, added: readonly Revision[]) {
  const names = new Map(added.map((each) => [`${each.kind} ${each.key}`, each]));
  const each = [...names.values()];
  return session.change(
    `DELETE FROM revisions WHERE id = ANY(ARRAY(
      SELECT id FROM unnest($2::text[], $3::text[]) AS given (kind, key), LATERAL (
        SELECT id FROM revisions
        WHERE document_id = $1 AND kind = given.kind AND key = given.key
        ORDER BY id DESC OFFSET $4) AS oldest))`,
    [documentId, each.map(({ kind }) => kind), each.map(({ key }) => key), HISTORY.revisionsPerKey],
  );
}

function addMemories(session: Statements, rows: readonly NewMemory[]) {
  return session.change(
    `INSERT INTO memories (document_id, key, memory_id, value, created_at, updated_at, entry_ids,
      key_words, value_words)
    SELECT document_id, key, memory_id, value, created_at, updated_at, entry_ids, key_words,
      value_words
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
        $7::text[], $8::text[], $9::text[])
      WITH ORDINALITY AS given (document_id, key, memory_id, value, created_at, updated_at,
        entry_ids, key_words, value_words, at)
    ORDER BY at`,
    [
      rows.map(({ documentId }) => documentId),
      rows.map(({ key }) => key),
      rows.map(({ memoryId }) => memoryId),
      rows.map(({ value }) => value),
      rows.map(({ createdAt }) => createdAt),
      rows.map(({ updatedAt }) => updatedAt),
      rows.map(({ entryIds }) => entryIds),
      rows.map(({ key }) => spacedWords(key)),
      rows.map(({ value }) => spacedWords(value)),
    ],
  );
}

function changeMemories(
  session: Statements,
  rows: readonly (NewMemory & { readonly rowId: number })[],
) {
  return session.change(
    `UPDATE memories SET value = given.value, created_at = given.created_at,
      updated_at = given.updated_at, entry_ids = given.entry_ids, value_words = given.value_words
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
      AS given (row_id, value, created_at, updated_at, entry_ids, value_words)
    WHERE memories.row_id = given.row_id`,
    [
      rows.map(({ rowId }) => rowId),
      rows.map(({ value }) => value),
      rows.map(({ createdAt }) => createdAt),
      rows.map(({ updatedAt }) => updatedAt),
      rows.map(({ entryIds }) => entryIds),
      rows.map(({ value }) => spacedWords(value)),
    ],
  );
}

/** Appends rows. Nothing is written unless the head is still the one on which they were made. */
async function appendRows(
  session: Statements,
  documentId: number,
  log: readonly NewRow[],
): Promise<void> {
  const [first] = log;
  const last = log.at(-1);
  if (!first || !last) return;
  const opening = log.filter(({ opensEpoch }) => opensEpoch);
  const moving = session.change(
    "UPDATE documents SET seq = $2, updated_at = $3 WHERE id = $1 AND seq = $4",
    [documentId, last.seq, last.now, first.seq - 1],
  );
  await together([
    moving,
    session.change(
      `INSERT INTO updates (document_id, seq, epoch, origin, payload, checksum, removed,
        committed_at)
      SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bigint[],
        $7::text[], $8::bigint[])`,
      [
        documentId,
        log.map(({ seq }) => seq),
        log.map(({ epoch }) => epoch),
        log.map(({ origin }) => origin),
        log.map(({ update }) => update),
        log.map(({ update }) => crc32(update)),
        log.map(({ removed }) => removed),
        log.map(({ now }) => now),
      ],
    ),
    opening.length > 0 &&
      session.change(
        `INSERT INTO epochs (document_id, first_seq, epoch)
        SELECT $1, * FROM unnest($2::bigint[], $3::text[])`,
        [documentId, opening.map(({ seq }) => seq), opening.map(({ epoch }) => epoch)],
      ),
  ]);
  assert((await moving) === 1, "an account's lock keeps others from its logs");
}
