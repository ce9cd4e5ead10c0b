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

/** A transaction that others came in the way of is tried this often. */
const TRIES_MAX = 5;

/** And so often on a connection that turns out to be lost. */
const CONNECTED_TRIES_MAX = 2;

/** How often a transaction that failed with this is tried: nothing of it was committed. */
export function triesFor(reason: unknown): number {
  if (isToBeRepeated(reason)) return TRIES_MAX;
  // The connection may have been lost long before it was needed.
  const isOver = reason instanceof UnknownOutcome;
  return isConnectionDead(reason) && !isOver ? CONNECTED_TRIES_MAX : 1;
}

/**
 * Runs `work` in one transaction: committed if it resolves, rolled back if it throws. It may run
 * several times, and so has no effects outside of the transaction. Where it is not known whether it
 * was committed it runs again only if it may be done twice.
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

/** Not of one that was silent: it would be waited for once more. */
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

/** Throws `UnknownOutcome` where nobody knows. */
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

/** False: the connection can't be used any more. What was not committed is gone then, too. */
export async function rolledBack<Tables>(session: PostgresSession<Tables>): Promise<boolean> {
  try {
    await session.command("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}
