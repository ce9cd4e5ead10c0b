import type { AccountId } from "../../ids.ts";
import type { InTransaction } from "../../postgres/migrate.ts";
import type { SessionPool } from "../../postgres/pool.ts";
import type { Statements } from "../../postgres/session.ts";
import { inTransaction } from "../../postgres/transaction.ts";
import { spacedWords } from "../search/words.ts";

/** How many memories one transaction reads and writes. */
const ROWS_AT_ONCE = 200;

/** The memories of notes: of one account, or of all. */
const NOTED = `FROM memories
    WHERE row_id = ANY($1::bigint[]) AND ($2::text IS NULL
      OR $2 = (SELECT owner FROM documents WHERE documents.id = memories.document_id))`;

interface StoredMemory {
  readonly row_id: number;
  readonly key: string;
  readonly value: string;
}

/** Gives each memory its words by the present rules. */
export async function rewriteWords(run: InTransaction): Promise<void> {
  let last: number | undefined = 0;
  while (last !== undefined) {
    const after: number = last;
    last = await run((session) => rewriteSome(session, after));
  }
}

/** The last row of these; undefined if there was none. */
async function rewriteSome(session: Statements, after: number): Promise<number | undefined> {
  const rows = await session.query<StoredMemory>(
    "SELECT row_id, key, value FROM memories WHERE row_id > $1 ORDER BY row_id LIMIT $2",
    [after, ROWS_AT_ONCE],
  );
  // Whoever has written a memory since gave it its words, or a note says that it has others.
  await giveWords(session, rows);
  return rows.at(-1)?.row_id;
}

async function giveWords(session: Statements, rows: readonly StoredMemory[]): Promise<void> {
  await session.change(
    `UPDATE memories SET key_words = given.key_words, value_words = given.value_words
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
      AS given (row_id, value, key_words, value_words)
    WHERE memories.row_id = given.row_id AND memories.value = given.value`,
    [
      rows.map((row) => row.row_id),
      rows.map(({ value }) => value),
      rows.map(({ key }) => spacedWords(key)),
      rows.map(({ value }) => spacedWords(value)),
    ],
  );
}

/**
 * Gives each memory that is noted in `former_words` its words by the present rules: those of one
 * account, or of all. What somebody else holds at the time stays noted: true if there is any.
 */
export async function rewriteFormerWords<Tables>(
  pool: SessionPool<Tables>,
  owner?: AccountId,
): Promise<boolean> {
  let isAnyHeld = false;
  let last: number | undefined = 0;
  while (last !== undefined) {
    const after: number = last;
    const some = await inTransaction(pool, (session) => rewriteNoted(session, after, owner));
    isAnyHeld ||= some.isAnyHeld;
    last = some.last;
  }
  return isAnyHeld;
}

/** `last`: of these notes; undefined if there was none. */
async function rewriteNoted(
  session: Statements,
  after: number,
  owner: AccountId | undefined,
): Promise<{ readonly last: number | undefined; readonly isAnyHeld: boolean }> {
  const notes = await notesAfter(session, after, ROWS_AT_ONCE);
  // A later write of one of these memories waits, and notes it anew.
  const rows = await session.query<StoredMemory>(
    `SELECT row_id, key, value ${NOTED} ORDER BY row_id FOR UPDATE SKIP LOCKED`,
    [notes, owner ?? null],
  );
  if (rows.length > 0) await giveWords(session, rows);
  const rewritten = new Set(rows.map((row) => row.row_id));
  const left = notes.filter((note) => !rewritten.has(note));
  const held = left.length > 0 ? await thereOf(session, left, owner) : new Set();
  const gone = owner === undefined ? left.filter((note) => !held.has(note)) : [];
  const done = [...rewritten, ...gone];
  if (done.length > 0) {
    await session.change("DELETE FROM former_words WHERE row_id = ANY($1::bigint[])", [done]);
  }
  return { last: notes.at(-1), isAnyHeld: held.size > 0 };
}

/** Memories that are noted; the first ones after another. */
async function notesAfter(session: Statements, after: number, most: number): Promise<number[]> {
  const notes = await session.query<{ row_id: number }>(
    "SELECT row_id FROM former_words WHERE row_id > $1 ORDER BY row_id LIMIT $2",
    [after, most],
  );
  return notes.map((note) => note.row_id);
}

/** Those that are there still: of one account, or of all. */
async function thereOf(
  session: Statements,
  notes: readonly number[],
  owner: AccountId | undefined,
): Promise<ReadonlySet<number>> {
  const rows = await session.query<{ row_id: number }>(`SELECT row_id ${NOTED}`, [
    notes,
    owner ?? null,
  ]);
  return new Set(rows.map((row) => row.row_id));
}
