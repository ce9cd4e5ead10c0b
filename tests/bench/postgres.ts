import { join } from "node:path";
import pg from "pg";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { openAnyDatabase } from "../../server/stores/open-any.ts";
import { realWorld } from "../../shared/world-real.ts";
import { type PostgresProcess, startPostgres } from "../support/start-postgres.ts";
import { urlIn } from "./emulator.ts";
import type { Bench } from "./row.ts";

/** A PostgreSQL that counts its statements. */
export async function startCounting(): Promise<PostgresProcess> {
  return await startPostgres([
    "shared_preload_libraries=pg_stat_statements",
    "max_wal_size=4GB",
    "shared_buffers=512MB",
  ]);
}

export async function newDatabase({ address }: PostgresProcess, name: string): Promise<string> {
  await ask(address, `CREATE DATABASE ${name} TEMPLATE template0`);
  const made = Object.assign(new URL(address), { pathname: `/${name}` }).href;
  await ask(made, "CREATE EXTENSION pg_stat_statements");
  return made;
}

export async function ask<Row extends pg.QueryResultRow>(
  address: string,
  statement: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Makes accounts in a database; a token of each. */
export async function newAccounts(place: string, count: number): Promise<string[]> {
  const database = await openAnyDatabase(place, realWorld);
  const admin = new HostAdmin(database, realWorld);
  const tokens: string[] = [];
  for (let at = 0; at < count; at++) {
    const account = `account-${at}`;
    await admin.createAccount(account, "team");
    const terms = { user: "ann", name: "laptop", scope: "write", projects: null } as const;
    tokens.push((await admin.createToken({ account, ...terms, expiresAt: null })).token);
  }
  await database.close();
  return tokens;
}

/** A `memsync server` as a process; its address. Nobody's requests are limited. */
export async function startServer(bench: Bench, database: string): Promise<string> {
  return (await startServerProgram(bench, database)).url;
}

/** The same with its process. */
export async function startServerProgram({ programs }: Bench, database: string) {
  const args = ["server", "--port", "0", "--limits", "off"];
  const environment = { MEMSYNC_SERVER_DATABASE_URL: database, MEMSYNC_SERVER_LOG_LEVEL: "silent" };
  const program = await programs.start("memsync", args, environment);
  return { program, url: urlIn(program.line) };
}

export async function newFile(bench: Bench): Promise<string> {
  return join(await bench.folder(), "memsync-server.db");
}
