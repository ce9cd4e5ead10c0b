import { CompiledQuery, type Kysely } from "kysely";
import { execute, hold, release } from "./direct.ts";

const BEGIN = CompiledQuery.raw("BEGIN IMMEDIATE");
const COMMIT = CompiledQuery.raw("COMMIT");
const ROLLBACK = CompiledQuery.raw("ROLLBACK");
const SAVEPOINT = CompiledQuery.raw("SAVEPOINT step");
const RELEASE = CompiledQuery.raw("RELEASE step");
const ROLLBACK_TO = CompiledQuery.raw("ROLLBACK TO step");

/**
 * Runs `work` in one write transaction: committed when it resolves, rolled back when it throws.
 * The write lock is taken at the start, so that a transaction that reads first cannot fail later
 * because another process wrote in between. Only the given `db` may be used inside.
 */
export function writeTransaction<Tables, Result>(
  writer: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  return writer.connection().execute(async (db) => {
    hold(writer, db);
    try {
      return await inTransaction(db, work);
    } finally {
      release(db);
    }
  });
}

async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  await begin(db);
  try {
    const result = await work(db);
    await execute(db, COMMIT);
    return result;
  } catch (thrown) {
    await rollback(db);
    throw thrown;
  }
}

/** A transaction whose rollback failed is still open, and would keep all others from beginning. */
async function begin<Tables>(db: Kysely<Tables>): Promise<void> {
  try {
    await execute(db, BEGIN);
  } catch (thrown) {
    if (!(await rollback(db))) throw thrown;
    await execute(db, BEGIN);
  }
}

/** False: there was no transaction; SQLite ends one by itself, as when the disk is full. */
async function rollback<Tables>(db: Kysely<Tables>): Promise<boolean> {
  try {
    await execute(db, ROLLBACK);
    return true;
  } catch {
    return false;
  }
}

/** How a step of a transaction ended; one that threw has left nothing. */
export type Step<Result> =
  | { readonly kept: true; readonly result: Result }
  | { readonly kept: false; readonly thrown: unknown };

/**
 * Runs `work` as one step of a transaction; when it throws, its statements alone are undone and the
 * transaction goes on. Throws where that can't be done: the whole transaction must then fail, for
 * what followed would no longer be part of one.
 */
export async function savepoint<Tables, Result>(
  db: Kysely<Tables>,
  work: () => Promise<Result>,
): Promise<Step<Result>> {
  await execute(db, SAVEPOINT);
  try {
    const result = await work();
    await execute(db, RELEASE);
    return { kept: true, result };
  } catch (thrown) {
    if (!(await undoStep(db))) throw thrown;
    return { kept: false, thrown };
  }
}

async function undoStep<Tables>(db: Kysely<Tables>): Promise<boolean> {
  try {
    await execute(db, ROLLBACK_TO);
    await execute(db, RELEASE);
    return true;
  } catch {
    return false;
  }
}
