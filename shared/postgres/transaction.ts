import {
  DatabaseFailure,
  isConnectionDead,
  isConnectionLost,
  isToBeRepeated,
  isUnanswered,
  UnknownOutcome,
} from "./failures.ts";
import type { SessionPool } from "./pool.ts";
import type { PostgresSession } from "./session.ts";

/** A transaction that conflicts with others is tried so often. */
const TRIES_MAX = 5;

/** A transaction on a connection that turns out to be lost is tried so often. */
const CONNECTED_TRIES_MAX = 2;

/** How often a transaction may be tried that failed for this reason, with nothing committed. */
export function triesFor(reason: unknown): number {
  if (isToBeRepeated(reason)) return TRIES_MAX;
  // The connection may have been lost long before it was needed.
  const isOver = reason instanceof UnknownOutcome;
  return isConnectionDead(reason) && !isOver ? CONNECTED_TRIES_MAX : 1;
}

/**
 * Runs `work` in one transaction: committed if it resolves, rolled back if it throws. It may run
 * several times, so it must have no effects outside of the transaction. If nobody knows whether it
 * was committed, it runs again only if the caller says that it may be done twice.
 */
export async function inTransaction<Tables, Result>(
  pool: SessionPool<Tables>,
  work: (session: PostgresSession<Tables>) => Promise<Result>,
  { mayBeDoneTwice = false } = {},
): Promise<Result> {
  for (let tries = 1, dead = 0; ; tries += 1) {
    try {
      return await once(await pool.take(dead), pool, work);
    } catch (thrown) {
      const isAgain = mayBeDoneTwice && isLostAtCommit(thrown) && tries < CONNECTED_TRIES_MAX;
      if (tries >= triesFor(thrown) && !isAgain) throw thrown;
      if (isAgain || isConnectionLost(thrown)) dead = pool.made;
    }
  }
}

/**
 * Whether the connection was lost at the commit. A silent one does not count, or the caller would
 * wait for it once more.
 */
function isLostAtCommit(thrown: unknown): boolean {
  return thrown instanceof UnknownOutcome && !isUnanswered(thrown.cause);
}

async function once<Tables, Result>(
  session: PostgresSession<Tables>,
  pool: SessionPool<Tables>,
  work: (session: PostgresSession<Tables>) => Promise<Result>,
): Promise<Result> {
  let isBroken = true;
  try {
    await session.command("BEGIN");
    const result = await work(session);
    await commit(session);
    isBroken = false;
    return result;
  } catch (thrown) {
    isBroken = !(await rolledBack(session));
    throw thrown;
  } finally {
    pool.give(session, isBroken);
  }
}

/** Commits. Throws `UnknownOutcome` if nobody knows whether that succeeded. */
export async function commit<Tables>(session: PostgresSession<Tables>): Promise<void> {
  let command: string;
  try {
    command = await session.command("COMMIT");
  } catch (thrown) {
    throw isConnectionLost(thrown) ? new UnknownOutcome(thrown) : thrown;
  }
  if (command === "COMMIT") return;
  throw new DatabaseFailure("the database did not commit: nothing of this was saved");
}

/**
 * Rolls back. False: the connection can't be used any more; the transaction is gone in either case.
 */
export async function rolledBack<Tables>(session: PostgresSession<Tables>): Promise<boolean> {
  try {
    await session.command("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}
