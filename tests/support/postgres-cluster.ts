import { spawn } from "node:child_process";
import pg from "pg";
import { startPostgres } from "./start-postgres.ts";

/** A PostgreSQL of this process's own, or the one that `MEMSYNC_TEST_DATABASE` names. */
export interface PostgresCluster {
  /** A new, empty database's address. */
  createDatabase(): Promise<string>;
}

let running: Promise<PostgresCluster> | undefined;

/** The one cluster of this process, which ends with it. */
export function postgresCluster(): Promise<PostgresCluster> {
  running ??= startOrJoin();
  return running;
}

async function startOrJoin(): Promise<PostgresCluster> {
  const address = process.env.MEMSYNC_TEST_DATABASE ?? (await startEmbedded());
  let made = 0;
  return {
    async createDatabase() {
      made += 1;
      const name = `memsync_${process.pid}_${made}`;
      const client = new pg.Client({ connectionString: address });
      await client.connect();
      try {
        await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
      } finally {
        await client.end();
      }
      return withDatabase(address, name);
    },
  };
}

function withDatabase(address: string, name: string): string {
  const url = new URL(address);
  url.pathname = `/${name}`;
  return url.href;
}

async function startEmbedded(): Promise<string> {
  const { folder, address } = await startPostgres();
  endWithThisProcess(folder);
  return address;
}

/** What runs in a cluster's folder by then, however this process ends: the pipe is closed then. */
export function endWithThisProcess(folder: string): void {
  const end = 'kill -QUIT "$(head -n 1 "$0/data/postmaster.pid")"; sleep 0.2; rm -rf "$0"';
  const watcher = spawn("sh", ["-c", `cat >/dev/null; ${end}`, folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.unref();
}
