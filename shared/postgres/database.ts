import type { Kysely } from "kysely";
import type { World } from "../world.ts";
import { checkServer, refuseMissing, refuseUnlike, refuseUnrecorded } from "./check-server.ts";
import { writeUnlessHeldUp } from "./held-up.ts";
import { migratePostgres, type PostgresMigration, stepsTaken } from "./migrate.ts";
import { kyselyThrough, SessionPool } from "./pool.ts";
import { schemaPartsOf } from "./schema-parts.ts";
import { inTransaction } from "./transaction.ts";

/**
 * With the connections of writes and the listening one a server has twelve: eight servers fit into
 * PostgreSQL's default of a hundred.
 */
const READING_MAX = 6;
const WRITING_MAX = 5;

/** A PostgreSQL database, opened by any number of processes. */
export interface PostgresDatabase<Tables> {
  readonly address: string;
  /** For reading. Sees what is committed. */
  readonly reader: Kysely<Tables>;
  /** The connections of writes. */
  readonly writing: SessionPool<Tables>;
  /** Those of reads. */
  readonly reading: SessionPool<Tables>;
  /** Runs `work` in one transaction; see `inTransaction`. */
  write<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/**
 * Opens and migrates a database. Throws one sentence that says what to do where it can't be used;
 * nothing is changed then.
 *
 * ```
 * const database = await openPostgres<HostTables>(address, migrations, world);
 * await database.write((db) => db.deleteFrom("sessions").execute());
 * ```
 */
export async function openPostgres<Tables>(
  address: string,
  migrations: readonly PostgresMigration[],
  world: World,
): Promise<PostgresDatabase<Tables>> {
  const writing = new SessionPool<Tables>(address, WRITING_MAX, { keepsPlaces: true });
  const reading = new SessionPool<Tables>(address, READING_MAX);
  const parts = schemaPartsOf(migrations);
  try {
    await checkServer(writing, parts);
    await refuseUnrecorded(writing, parts);
    const known = await stepsTaken(writing, migrations);
    if (migrations.some(({ name }) => !known.has(name))) {
      await writeUnlessHeldUp({ reading, writing }, world, () =>
        migratePostgres(writing, { migrations, known }, (session, done) =>
          refuseUnlike(session, migrations, done),
        ),
      );
    }
    await refuseMissing(writing, parts);
  } catch (thrown) {
    await Promise.all([writing.end(), reading.end()]);
    throw thrown;
  }
  return {
    address,
    reader: kyselyThrough(reading),
    writing,
    reading,
    write: (work) => inTransaction(writing, ({ db }) => work(db)),
    async close() {
      await Promise.all([writing.end(), reading.end()]);
    },
  };
}
