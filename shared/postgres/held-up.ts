import { RateLimited } from "../errors.ts";
import type { Timer, World } from "../world.ts";
import { COMMIT_HELD_UP, DatabaseFailure, STANDBY_LOST, UnknownOutcome } from "./failures.ts";
import type { SessionPool } from "./pool.ts";

/** With a standby that is there, a commit takes no longer. */
const UNHEARD_MS = 5000;

/** So often a write of a command is looked after. */
const LOOK_EVERY_MS = 1000;

/** Those of `pg_stat_activity` that have waited so long for a standby to have their commit. */
function isHeldUpFor(waitedMs: number): string {
  return `(wait_event = 'SyncRep'
    AND query_start < clock_timestamp() - interval '${waitedMs} ms')`;
}

/** How many commits of the database's user have waited so long for a standby. */
function heldUpFor(waitedMs: number): string {
  return `(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
    AND usename = current_user AND ${isHeldUpFor(waitedMs)})`;
}

/** How many commits of the database's user have waited for a standby for too long; in SQL. */
export const UNHEARD = heldUpFor(UNHEARD_MS);

/** The connections of a database; see `PostgresDatabase`. */
interface Pools<Tables> {
  readonly reading: SessionPool<Tables>;
  readonly writing: SessionPool<Tables>;
}

/**
 * Runs `write` where others may have to wait for a synchronous standby that is gone. Throws without
 * writing where others have waited for too long; and where the commit of `write` has it is given
 * up, and saved once the standby answers: `COMMIT_HELD_UP`.
 */
export async function writeUnlessHeldUp<Tables, Result>(
  pools: Pools<Tables>,
  world: World,
  write: () => Promise<Result>,
): Promise<Result> {
  const { reading } = pools;
  if (await areHeldUp(reading, UNHEARD)) throw new DatabaseFailure(STANDBY_LOST);
  const watch = leaveHeldUp(pools, world);
  try {
    return await write();
  } catch (thrown) {
    throw await failureOfWrite(reading, thrown);
  } finally {
    watch.cancel();
  }
}

/** Looks every second for commits that have waited for too long, and gives them up. */
function leaveHeldUp<Tables>({ reading, writing }: Pools<Tables>, world: World): Timer {
  let isOver = false;
  let timer: Timer | undefined;
  const look = async () => {
    const rows = await reading.use((session) =>
      session.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[]) AND ${isHeldUpFor(UNHEARD_MS)}`,
        [writing.processes],
      ),
    );
    writing.leave(rows.map(({ pid }) => pid));
  };
  const lookLater = () => {
    if (isOver) return;
    timer = world.setTimer(LOOK_EVERY_MS, () => {
      // Who can't look now does so later; the write has bounds of its own.
      void look().then(lookLater, lookLater);
    });
  };
  lookLater();
  return {
    cancel() {
      isOver = true;
      timer?.cancel();
    },
  };
}

/** What is wrong where a write has failed with `thrown`, also for one that waits for a standby. */
async function failureOfWrite<Tables>(
  reading: SessionPool<Tables>,
  thrown: unknown,
): Promise<unknown> {
  const isUnknown = thrown instanceof UnknownOutcome;
  if (!isUnknown && !(thrown instanceof RateLimited)) return thrown;
  if (!(await areHeldUp(reading, heldUpFor(0)).catch(() => false))) return thrown;
  return new DatabaseFailure(isUnknown ? COMMIT_HELD_UP : STANDBY_LOST, thrown);
}

async function areHeldUp<Tables>(reading: SessionPool<Tables>, count: string): Promise<boolean> {
  const [row] = await reading.use((session) =>
    session.query<{ unheard: number }>(`SELECT ${count} AS unheard`),
  );
  return row !== undefined && row.unheard > 0;
}
