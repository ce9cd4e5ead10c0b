import type { Kysely } from "kysely";
import { type Direct, pin, release, transactionOf } from "./direct.ts";

/**
 * Runs `work` in one write transaction: committed if it resolves, rolled back if it throws. The
 * write lock is taken at the start, so that a transaction that reads first can't fail later because
 * another process wrote in between. Only the given `db` may be used inside.
 */
export function writeTransaction<Tables, Result>(
  writer: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  return writer.connection().execute(async (db) => {
    const direct = pin(writer, db);
    begin(direct);
    try {
      const result = await work(db);
      direct.run("COMMIT");
      return result;
    } catch (thrown) {
      rollback(direct);
      throw thrown;
    } finally {
      release(db);
    }
  });
}

/** A transaction whose rollback failed is still open, and would block all others. */
function begin(direct: Direct): void {
  try {
    direct.run("BEGIN IMMEDIATE");
  } catch (thrown) {
    if (!rollback(direct)) throw thrown;
    direct.run("BEGIN IMMEDIATE");
  }
}

/** False: there was no transaction. SQLite ends one by itself, as on a full disk. */
function rollback(direct: Direct): boolean {
  try {
    direct.run("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}

/** The outcome of a step of a transaction. One that threw has left nothing. */
export type Step<Result> =
  | { readonly kept: true; readonly result: Result }
  | { readonly kept: false; readonly thrown: unknown };

/**
 * Runs `work` as one step of a transaction. If it throws, only its own statements are undone and
 * the transaction goes on. Throws if that is impossible: the whole transaction must then fail,
 * because what follows would not be part of one.
 */
export async function savepoint<Tables, Result>(
  db: Kysely<Tables>,
  work: () => Promise<Result>,
): Promise<Step<Result>> {
  const direct = transactionOf(db);
  direct.run("SAVEPOINT step");
  try {
    const result = await work();
    direct.run("RELEASE step");
    return { kept: true, result };
  } catch (thrown) {
    if (!undoStep(direct)) throw thrown;
    return { kept: false, thrown };
  }
}

function undoStep(direct: Direct): boolean {
  try {
    direct.run("ROLLBACK TO step");
    direct.run("RELEASE step");
    return true;
  } catch {
    return false;
  }
}
