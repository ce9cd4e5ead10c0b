import { afterEach } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serviceMigrations } from "../../server/stores/migrations.ts";
import type { ServiceTables } from "../../server/stores/tables.ts";
import { replicaMigrations } from "../../shared/replica/log/migrations.ts";
import type { Writer } from "../../shared/replica/store/open-document.ts";
import { ReplicaStore, type StoreOptions } from "../../shared/replica/store/store.ts";
import { connect } from "../../shared/sqlite/connect-bun.ts";
import type { SqliteConnection } from "../../shared/sqlite/connection.ts";
import { kyselyOver, openDatabase, type SqliteDatabase } from "../../shared/sqlite/database.ts";
import { migrate } from "../../shared/sqlite/migrate.ts";
import { writeTransaction } from "../../shared/sqlite/transaction.ts";
import { createTestWorld, type TestWorld } from "./test-world.ts";

export type Store = ReplicaStore<ServiceTables>;

export interface TempStoreOptions {
  /** Stands between the store and the connection that it writes with. */
  readonly wrap?: (connection: SqliteConnection) => SqliteConnection;
  readonly droppable?: NonNullable<StoreOptions<ServiceTables>["droppable"]>;
  readonly pause?: NonNullable<StoreOptions<ServiceTables>["pause"]>;
  /** See `StoreOptions`. */
  readonly indexesLater?: boolean;
  /** What documents say of who writes here. */
  readonly machine?: string;
  readonly home?: string;
}

/** A store on a real file in a folder of its own. */
export interface TempStore {
  readonly folder: string;
  readonly path: string;
  readonly world: TestWorld;
  /** The one that is open; each `reopen` makes another. */
  readonly store: Store;
  readonly database: SqliteDatabase<ServiceTables>;
  /** Closes the store and opens its file again, as a restarted process would. */
  reopen(options?: TempStoreOptions): Promise<void>;
  /** The same where the store was closed already. */
  restart(options?: TempStoreOptions): Promise<void>;
  /** Closes the store and deletes the folder. */
  remove(): Promise<void>;
}

export async function createTempStore(options: TempStoreOptions = {}): Promise<TempStore> {
  const folder = mkdtempSync(join(tmpdir(), "memsync-store-"));
  const path = join(folder, "replica.db");
  copyFileSync(await emptyDatabase(), path);
  const world = createTestWorld();
  let starts = 0;
  const start = async ({ wrap, machine, home, ...rest }: TempStoreOptions) => {
    starts += 1;
    const writer: Writer = { epoch: `epoch-${starts}`, clientId: 1000 + starts, machine, home };
    const database = await openDatabase<ServiceTables>({ path });
    await migrate(database.writer, [...replicaMigrations, ...serviceMigrations]);
    const used = wrap ? await wrapWriter(database, path, wrap) : database;
    const store = new ReplicaStore({
      database: used,
      world,
      writer,
      ...rest,
    });
    return { store, database: used };
  };
  let running = await start(options);
  return {
    folder,
    path,
    world,
    get store() {
      return running.store;
    },
    get database() {
      return running.database;
    },
    async reopen(next = {}) {
      await running.store.close();
      running = await start(next);
    },
    async restart(next = {}) {
      running = await start(next);
    },
    async remove() {
      await running.store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Makes stores for the tests of a file, and removes each after the test that made it. */
export function storesOfTests(): (options?: TempStoreOptions) => Promise<TempStore> {
  const opened: TempStore[] = [];
  afterEach(async () => {
    for (const temp of opened.splice(0)) await temp.remove();
  });
  return async (options) => {
    const temp = await createTempStore(options);
    opened.push(temp);
    return temp;
  };
}

let empty: Promise<string> | undefined;

/** A file with the whole schema and nothing in it, made once: most of a test's time went there. */
function emptyDatabase(): Promise<string> {
  empty ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "memsync-empty-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "empty.db");
    const database = await openDatabase<ServiceTables>({ path });
    await migrate(database.writer, [...replicaMigrations, ...serviceMigrations]);
    await database.close();
    return path;
  })();
  return empty;
}

/** The same database, written through a wrapped connection. */
async function wrapWriter(
  database: SqliteDatabase<ServiceTables>,
  path: string,
  wrap: (connection: SqliteConnection) => SqliteConnection,
): Promise<SqliteDatabase<ServiceTables>> {
  await database.writer.destroy();
  const connection = connect(path, { readonly: false });
  connection.exec("PRAGMA foreign_keys = ON");
  const writer = kyselyOver<ServiceTables>(wrap(connection), undefined);
  return {
    writer,
    reader: database.reader,
    write: (work) => writeTransaction(writer, work),
    version: database.version,
    rest: database.rest,
    async close() {
      await database.reader.destroy();
      await writer.destroy();
    },
  };
}
