import { expect } from "bun:test";
import { spawn } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SESSION_SETTINGS } from "../../shared/postgres/pool.ts";
import { programs, testWith } from "../support/needs.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { openHost, refusal } from "../support/postgres-host.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

const TIMEOUT_MS = 120_000;

/** It does not run as root. */
const NOBODY = 65_534;

interface Pooling {
  readonly mode: "transaction" | "session";
  /** Whether it takes a session's settings, and leaves them out. */
  readonly ignoresOptions: boolean;
}

/** A pgbouncer before the database at `address`, on a socket in a folder of its own. */
async function openPooler(address: string, { mode, ignoresOptions }: Pooling) {
  const folder = mkdtempSync(join(tmpdir(), "memsync-pooler-"));
  const { username, password, pathname, searchParams } = new URL(address);
  const [settings, log] = [join(folder, "settings"), join(folder, "log")];
  const database = pathname.slice(1);
  const server = `host=${searchParams.get("host")} dbname=${database}`;
  writeFileSync(
    settings,
    [
      "[databases]",
      `${database} = ${server} user=${username} password=${password}`,
      "[pgbouncer]",
      `pool_mode = ${mode}`,
      "listen_addr =",
      "listen_port = 6432",
      `unix_socket_dir = ${folder}`,
      `logfile = ${log}`,
      "auth_type = any",
      "default_pool_size = 40",
      ...(ignoresOptions ? ["ignore_startup_parameters = options"] : []),
    ].join("\n"),
  );
  writeFileSync(log, "");
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const each of [folder, settings, log]) chownSync(each, NOBODY, NOBODY);
  const started = spawn("pgbouncer", ["--quiet", settings], {
    stdio: "ignore",
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  await waitFor("pgbouncer", () => readFileSync(log, "utf8").includes("process up"));
  const at = `localhost:6432/${database}?host=${encodeURIComponent(folder)}`;
  return {
    address: `postgres://${username}:${password}@${at}`,
    [Symbol.dispose]() {
      started.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The database's sessions have memsync's settings, whoever opens them. */
async function settle(address: string): Promise<void> {
  const name = new URL(address).pathname.slice(1);
  const statements = Object.entries(SESSION_SETTINGS).map(
    ([setting, value]) => `ALTER DATABASE ${name} SET ${setting} = '${value}'`,
  );
  await runOnPostgres(address, ...statements);
}

testWith(
  programs("pgbouncer"),
  "pgbouncer in transaction mode is refused whatever it lets through, and in session mode serves",
  async () => {
    const address = await (await postgresCluster()).createDatabase();
    const refusedBy = async (pooling: Pooling) => {
      using pooler = await openPooler(address, pooling);
      return await refusal(pooler.address);
    };
    const transactions = { mode: "transaction", ignoresOptions: true } as const;
    // Nobody's settings come through.
    const own = "name PostgreSQL's own address by --database-url";
    expect(await refusedBy({ ...transactions, ignoresOptions: false })).toContain(own);
    const lost = "where memsync sets 30s: leave that out of the address, and let a pooler pass";
    expect(await refusedBy(transactions)).toContain(lost);
    await settle(address);
    expect(await refusedBy(transactions)).toContain(own);
    // None of these has made anything.
    const tables = "SELECT FROM pg_tables WHERE schemaname = 'public'";
    expect(await runOnPostgres(address, tables)).toEqual([]);

    using pooler = await openPooler(address, { mode: "session", ignoresOptions: true });
    await using host = await openHost(pooler.address);
    await using direct = await openHost(address, host.token);
    const keys: string[] = [];
    for (const [at, each] of [host, direct, host].entries()) {
      expect((await each.write(`key ${at}`)).status).toBe(200);
      keys.push(`key ${at}`);
      for (const server of [host, direct]) expect(await server.keys()).toEqual(keys);
    }
  },
  TIMEOUT_MS,
);
