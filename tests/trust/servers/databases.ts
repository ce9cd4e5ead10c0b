import pg from "pg";
import { postgresCluster } from "../../support/postgres-cluster.ts";
import { waitFor } from "../../support/wait-for.ts";
import type { Wire } from "./wire.ts";

/** The rows of each statement; all of them on one connection of its own. */
export async function askDatabase<Rows extends pg.QueryResultRow[]>(
  address: string,
  statements: readonly string[],
): Promise<{ [At in keyof Rows]: Rows[At][] }> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    const found = [];
    for (const statement of statements) found.push((await client.query(statement)).rows);
    // As many as there are statements; whoever asks knows their columns.
    return found as { [At in keyof Rows]: Rows[At][] };
  } finally {
    await client.end();
  }
}

export async function newDatabase(): Promise<string> {
  return await (await postgresCluster()).createDatabase();
}

/**
 * A copy of what a database has committed, as a standby that lags has it or a backup: another
 * incarnation. All connections are lost meanwhile.
 */
export async function copyDatabase(address: string, wires: readonly Wire[]): Promise<string> {
  for (const wire of wires) wire.isCut = true;
  for (const wire of wires) wire.cutAll();
  const name = nameOf(address);
  const copy = at(address, `${name}_copy`);
  const admin = at(address, "postgres");
  // PostgreSQL's processes end a little after their connections.
  await waitFor("the connections to end", async () => {
    await askDatabase(admin, [`CREATE DATABASE ${nameOf(copy)} TEMPLATE ${name}`]);
    return true;
  });
  for (const wire of wires) wire.isCut = false;
  return copy;
}

/** Whether the database acknowledges only what is on its disk; for connections made later. */
export async function setDurable(address: string, isDurable: boolean): Promise<void> {
  const setting = isDurable ? "RESET synchronous_commit" : "SET synchronous_commit = off";
  await askDatabase(at(address, "postgres"), [`ALTER DATABASE ${nameOf(address)} ${setting}`]);
}

export async function dropDatabase(address: string): Promise<void> {
  const drop = `DROP DATABASE IF EXISTS ${nameOf(address)} WITH (FORCE)`;
  await askDatabase(at(address, "postgres"), [drop]);
}

function nameOf(address: string): string {
  return new URL(address).pathname.slice(1);
}

function at(address: string, database: string): string {
  return Object.assign(new URL(address), { pathname: `/${database}` }).href;
}
