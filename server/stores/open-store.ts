import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { SERVICE_MACHINE } from "../../shared/replica/document/machine-name.ts";
import { replicaMigrations } from "../../shared/replica/log/migrations.ts";
import type { Replica } from "../../shared/replica/store/replica.ts";
import { ReplicaStore } from "../../shared/replica/store/store.ts";
import { newWriter } from "../../shared/replica/store/writer.ts";
import { openDatabase, type SqliteDatabase } from "../../shared/sqlite/database.ts";
import { storageFailure } from "../../shared/sqlite/failures.ts";
import type { Migration } from "../../shared/sqlite/migrate.ts";
import { migrate } from "../../shared/sqlite/migrate.ts";
import { MisfitError, refuseMisfit, type Schema } from "../../shared/sqlite/misfit.ts";
import { patientPauseOf, pauseOf } from "../../shared/turns.ts";
import type { World } from "../../shared/world.ts";
import { accountMigrations } from "./account-migrations.ts";
import type { HostTables } from "./account-tables.ts";
import { createHostFile, emptyInMemory } from "./create-host-file.ts";
import type { HostDatabase } from "./host-database.ts";
import { lockDatabase, realDatabasePath, refuseOtherNames } from "./host-lock.ts";
import { serviceMigrations } from "./migrations.ts";
import { misfitRefusal, refuseDamaged } from "./refuse-damaged.ts";

/** All migrations of a host's database, in order. */
export const hostMigrations: readonly Migration[] = [
  ...replicaMigrations,
  ...serviceMigrations,
  ...accountMigrations,
];

/** The schema with the fingerprint by which a database of this version is recognised. */
export const hostSchema: Schema = { migrations: hostMigrations, fingerprint: 1_840_754_025 };

/** Connections to a database: how many are open, used, and waited for. */
export interface ConnectionFigures {
  readonly open: number;
  readonly used: number;
  readonly waiting: number;
}

/** A host's open replica, and its database for what is kept beside it. */
export interface HostStore {
  readonly store: Replica<HostTables>;
  readonly database: HostDatabase;
  /** Why nothing can be written just now, in a sentence; left out where that shows at once. */
  readonly problem?: () => string | undefined;
  /** Figures of the database's connections, where it has any. */
  readonly connections?: () => ConnectionFigures;
  /** Calls back where what was told of commits may be missing: whoever listens begins again. */
  readonly onAnew?: (callback: () => void) => void;
  /** Finishes the writes under way, closes the database and releases its lock. */
  close(): Promise<void>;
}

/** The same in a file of this process's own. */
export interface HostFileStore extends HostStore {
  readonly store: ReplicaStore<HostTables>;
  readonly database: SqliteDatabase<HostTables>;
}

/**
 * Opens a host's database, `:memory:` or a file, and migrates it. One process serves a file at a
 * time, by whatever links it is named: a second one is refused with one sentence.
 */
export async function openHostStore(path: string, world: World): Promise<HostFileStore> {
  assertFolderOf(path);
  const lock = path === ":memory:" ? undefined : await lockDatabase(path);
  if (path !== ":memory:" && !lock) {
    throw new Error(`the database ${path} is served by another memsync process: stop that first`);
  }
  try {
    if (path !== ":memory:") {
      refuseOtherNames(path);
      await refuseDamaged(path, hostSchema);
    }
    const database = await openHostDatabase(path);
    const store = new ReplicaStore({
      database,
      world,
      writer: newWriter(world, SERVICE_MACHINE),
      pause: pauseOf(world),
      patientPause: patientPauseOf(world),
      indexesLater: true,
    });
    return {
      store,
      database,
      async close() {
        await store.close();
        lock?.release();
      },
    };
  } catch (thrown) {
    lock?.release();
    throw thrown;
  }
}

/** Says which disk does not take the file. */
function createAt(path: string): void {
  try {
    createHostFile(path);
  } catch (thrown) {
    const failure = storageFailure(thrown, path);
    throw failure === undefined ? thrown : new AppError("invalid_request", failure);
  }
}

function assertFolderOf(path: string): void {
  const folder = dirname(path);
  if (path === ":memory:" || existsSync(folder)) return;
  throw new Error(`there is no folder ${folder} for the database: make it, or name another file`);
}

/** The same database for commands beside a running server: only for accounts and tokens. */
export async function openHostDatabase(path: string): Promise<SqliteDatabase<HostTables>> {
  // It has everybody's memories, and SQLite would create a file that all users of the machine can
  // read.
  if (path !== ":memory:" && !existsSync(path)) {
    assertFolderOf(path);
    createAt(realDatabasePath(path));
  }
  if (path !== ":memory:") refuseOtherNames(path);
  const content = path === ":memory:" ? emptyInMemory() : undefined;
  const database = await openDatabase<HostTables>({ path, content });
  try {
    await refuseMisfit(database.reader, hostSchema);
    await migrate(database.writer, hostMigrations);
    return database;
  } catch (thrown) {
    await database.close();
    if (thrown instanceof MisfitError) throw misfitRefusal(path, thrown);
    if (!(thrown instanceof AppError)) throw thrown;
    throw new AppError(thrown.code, `${path} can't be opened: ${thrown.message}`);
  }
}
