import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { sql } from "kysely";
import pg from "pg";
import type { HostTables } from "../../server/stores/account-tables.ts";
import { openPostgresStore } from "../../server/stores/open-postgres-store.ts";
import { messageOf } from "../../shared/errors.ts";
import { checkServer } from "../../shared/postgres/check-server.ts";
import { foreseen, isConnectionLost } from "../../shared/postgres/failures.ts";
import { SessionPool } from "../../shared/postgres/pool.ts";
import { schemaPartsOf } from "../../shared/postgres/schema-parts.ts";
import type { PostgresSession } from "../../shared/postgres/session.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openHost, openReady, refusal } from "../support/postgres-host.ts";
import { runOnPostgres, serversOfTests } from "../support/postgres-servers.ts";
import { openWay, portOf } from "../support/postgres-way.ts";
import { waitFor } from "../support/wait-for.ts";

const newDatabase = serversOfTests();

test("an address at which no database can be used is refused in a sentence", async () => {
  const { address } = await newDatabase();
  const at = (change: (url: URL) => void) => {
    const url = new URL(address);
    change(url);
    return refusal(url);
  };
  const missing = await at((url) => {
    url.pathname = "/nothing";
  });
  expect(missing).toContain('database "nothing" does not exist: make it with `createdb`');
  const gone = await at((url) => url.searchParams.set("host", "/nowhere"));
  expect(gone).toMatch(/^the database can't be reached .*: see that it runs, and --database-url$/);
  const wrong = await at((url) => {
    url.password = "wrong-secret";
  });
  expect(wrong).toContain("refuses the user or the password");
  expect(wrong).not.toContain("wrong-secret");
  expect(await refusal("postgres://memsync@nowhere.invalid/memsync")).toContain("can't be reached");
});

test("a database that can't be relied on is refused, and nothing is changed in it", async () => {
  const { address } = await newDatabase();
  const name = new URL(address).pathname.slice(1);
  const refusedWith = async (setting: string, value: string) => {
    await runOnPostgres(address, `ALTER DATABASE ${name} SET ${setting} = ${value}`);
    const said = await refusal(address);
    const admin = Object.assign(new URL(address), { pathname: "/postgres" });
    await runOnPostgres(`${admin}`, `ALTER DATABASE ${name} RESET ${setting}`);
    return said;
  };
  expect(await refusedWith("synchronous_commit", "off")).toContain("take that setting back");
  expect(await refusedWith("synchronous_commit", "local")).toContain(
    "before a synchronous standby",
  );
  expect(await refusedWith("session_replication_role", "replica")).toBe(
    "the database leaves out triggers (session_replication_role = replica): take that setting " +
      "back, of the server, the database, the user or the address",
  );
  expect(await refusedWith("default_transaction_read_only", "on")).toContain("name the primary's");
  expect(await refusedWith("search_path", "nowhere")).toContain("no schema that its search_path");
  await runOnPostgres(
    address,
    "DROP ROLE IF EXISTS guest",
    "CREATE ROLE guest LOGIN PASSWORD 'guest'",
  );
  const guest = Object.assign(new URL(address), { username: "guest", password: "guest" });
  expect(await refusal(guest)).toContain("GRANT CREATE ON SCHEMA to it, or make it the owner of");
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query("SELECT * FROM pg_tables WHERE schemaname = 'public'");
  await client.end();
  expect(rows).toEqual([]);
});

test("a database that does not bring to its disk what it acknowledges is refused", async () => {
  const { address } = await newDatabase();
  await using host = await openHost(address);
  expect((await host.write("before")).status).toBe(200);
  const reload = "SELECT pg_reload_conf()";
  await runOnPostgres(address, "ALTER SYSTEM SET fsync = off", reload);
  try {
    await waitFor("the refusal", async () => (await refusal(address)).includes("(fsync = off)"));
    // Nor does a server that runs write any more, whether it has looked since or not.
    await waitFor("a refused write", async () => (await host.write("refused")).status === 500);
    expect((await host.write("still refused")).status).toBe(500);
  } finally {
    await runOnPostgres(address, "ALTER SYSTEM RESET fsync", reload);
  }
  await waitFor(
    "a database to be relied on",
    async () => (await refusal(address)) === "it was opened",
  );
  await waitFor("a write", async () => (await host.write("after")).status === 200);
  expect(await host.keys()).not.toContain("still refused");
});

test("a server whose database leaves out triggers writes no more, and is not ready", async () => {
  const { address } = await newDatabase();
  const name = new URL(address).pathname.slice(1);
  await using host = await openHost(address);
  const status = async () => {
    return (await host.app.fetch(new Request("http://127.0.0.1/readyz"))).status;
  };
  // What is set for a database is so for its next connections.
  const set = (change: string) =>
    runOnPostgres(
      address,
      `ALTER DATABASE ${name} ${change}`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  expect((await host.write("before")).status).toBe(200);
  await set("SET session_replication_role = replica");
  expect((await host.write("refused")).status).toBe(500);
  await waitFor("a look", async () => (await status()) === 503);
  await set("RESET session_replication_role");
  await waitFor("a server that is ready again", async () => (await status()) === 200);
  expect((await host.write("after")).status).toBe(200);
  expect(await host.keys()).toEqual(["before", "after"]);
  const asked = `${address}&options=-c+session_replication_role%3Dreplica`;
  expect(await refusal(asked)).toContain("(session_replication_role = replica)");
});

test("what an address sets comes beside a session's bounds, and not in their place", async () => {
  const { address } = await newDatabase();
  const withQuery = (query: string) => `${address}&${query}`;
  for (const query of ["options=-c%20search_path%3Dpublic", "options=-c+lock_timeout=0", "x=y"]) {
    const host = await openPostgresStore(withQuery(query), realWorld);
    const { rows } = await sql<{ settings: string }>`
      SELECT concat_ws(' ', current_setting('search_path'), current_setting('statement_timeout'),
        current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout'),
        current_setting('transaction_isolation')) AS settings`.execute(host.database.reader);
    await host.close();
    expect(rows[0]?.settings).toMatch(/(public|"\$user", public) 30s 15s 10s read committed/);
  }
  expect(await refusal(withQuery("lock_timeout=60000"))).toContain(
    "have lock_timeout = 1min, where memsync sets 15s: leave that out of the address",
  );
});

test("a database without a connection left is told as such, and shows in /readyz", async () => {
  const { address } = await newDatabase();
  const name = new URL(address).pathname.slice(1);
  await runOnPostgres(
    address,
    "DROP ROLE IF EXISTS member",
    "CREATE ROLE member LOGIN PASSWORD 'member'",
    `ALTER DATABASE ${name} OWNER TO member`,
  );
  const member = Object.assign(new URL(address), { username: "member", password: "member" });
  const limit = (connections: number) =>
    runOnPostgres(
      address,
      `ALTER DATABASE ${name} CONNECTION LIMIT ${connections}`,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'member'",
    );
  await using host = await openReady(`${member}`);
  expect(await host.status()).toBe(200);
  await limit(0);
  await waitFor("a lack that shows", async () => (await host.status()) === 503);
  const said = "the database gives no further connection (too many connections for database";
  expect(await refusal(member)).toContain(said);
  await limit(-1);
  await waitFor("a server that is ready again", async () => (await host.status()) === 200);
});

test("a disk that is full shows in /readyz until there is room, and a client is told", async () => {
  const { address } = await newDatabase();
  await using host = await openHost(address);
  const status = async () => {
    return (await host.app.fetch(new Request("http://127.0.0.1/readyz"))).status;
  };
  expect((await host.write("before")).status).toBe(200);
  // As the database does where it finds no room, for a row or for a table.
  await runOnPostgres(
    address,
    `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
    `CREATE FUNCTION no_room_at_all() RETURNS event_trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
    "CREATE TRIGGER no_room BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION no_room()",
    `CREATE EVENT TRIGGER no_room_at_all ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS')
      EXECUTE FUNCTION no_room_at_all()`,
  );
  const answer = await host.write("refused");
  expect(await status()).toBe(503);
  expect([answer.status, await answer.json()]).toMatchObject([
    500,
    { error: { code: "internal", message: expect.stringMatching(/^the disk is full: make room/) } },
  ]);
  const reason = expect.stringContaining("the database's disk is full");
  await waitFor("a look that finds no room", async () =>
    host.logged.some((fields) => "reason" in fields),
  );
  expect(host.logged).toContainEqual({ reason });
  expect(await status()).toBe(503);
  expect(await host.keys()).toEqual(["before"]);
  // Whether there is room for the next row shows by that row alone.
  await runOnPostgres(address, "DROP EVENT TRIGGER no_room_at_all");
  await waitFor("a server that is ready again", async () => (await status()) === 200);
  await runOnPostgres(address, "DROP TRIGGER no_room ON memories");
  expect((await host.write("after")).status).toBe(200);
});

test("servers that begin at the same time make the tables once", async () => {
  const database = await newDatabase();
  const hosts = await Promise.all([database.open(), database.open(), database.open()]);
  expect(new Set(hosts.map(({ store }) => store.writer.epoch)).size).toBe(1);
  expect(new Set(hosts.map(({ store }) => store.writer.clientId)).size).toBe(3);
});

test.each([
  ["08P01", "unsupported startup parameter: options"],
  ["42P05", 'prepared statement "memsync_1" already exists'],
  ["26000", 'prepared statement "memsync_1" does not exist'],
])("what a pooler says with %s is told as a pooler's", (code, message) => {
  const refused = Object.assign(new Error(message), { code });
  expect(messageOf(foreseen(refused))).toContain("name PostgreSQL's own address");
});

/** As behind a pooler in transaction mode: whoever asks gets the one connection. */
class LendingPool extends SessionPool<HostTables> {
  #lent: Promise<PostgresSession<HostTables>> | undefined;

  override take(): Promise<PostgresSession<HostTables>> {
    this.#lent ??= super.take();
    return this.#lent;
  }

  override give(): void {}

  async close(): Promise<void> {
    const session = await this.#lent;
    if (session) super.give(session);
    await this.end();
  }
}

test("connections that are one behind a pooler are refused", async () => {
  const { address } = await newDatabase();
  const pool = new LendingPool(address, 2);
  await expect(checkServer(pool, schemaPartsOf([]))).rejects.toThrow(
    "a pooler in transaction mode",
  );
  await pool.close();
});

test("a full disk is told, and too much work asks for patience", () => {
  const error = (code: string) => Object.assign(new Error("of the database"), { code });
  expect(messageOf(foreseen(error("53100")))).toContain("disk is full: make room there");
  expect(foreseen(error("53300"))).toMatchObject({ code: "rate_limited", retryAfterSeconds: 2 });
  expect(foreseen(error("55P03"))).toMatchObject({
    code: "rate_limited",
    message: expect.stringContaining("another transaction has held for 15 seconds"),
    told: "the server has too much to do: try again later",
  });
  const unknown = error("23505");
  expect(foreseen(unknown)).toBe(unknown);
});

test("a statement without an answer ends, and nobody gets its connection again", async () => {
  const { address } = await newDatabase();
  const way = await openWay(address);
  const pool = new SessionPool<HostTables>(way.address, 1);
  const session = await pool.take();
  expect(await session.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  way.hush();
  const thrown = await session.query("SELECT 1", [], 50).catch((each: unknown) => each);
  expect(messageOf(thrown)).toContain("the database does not answer");
  // A commit that ends so is one of which nobody knows.
  expect(isConnectionLost(thrown)).toBe(true);
  pool.give(session, true);
  way.mend();
  expect(await pool.use((next) => next.query("SELECT 1 AS one"))).toEqual([{ one: 1 }]);
  await pool.end();
  way.close();
});

test("a connection that the database ends as soon as it is made ends nothing else", async () => {
  const message = (kind: string, body: string) => {
    const head = Buffer.alloc(5, kind);
    head.writeInt32BE(4 + Buffer.byteLength(body), 1);
    return Buffer.concat([head, Buffer.from(body)]);
  };
  const welcome = Buffer.concat([message("R", "\0\0\0\0"), message("Z", "I")]);
  const farewell = message("E", "SFATAL\0C57P01\0Mterminating connection\0\0");
  const server = createServer((client) => {
    client.on("error", () => {});
    // All in one packet, so that nobody has the connection yet.
    client.once("data", () => client.end(Buffer.concat([welcome, farewell])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pool = new SessionPool<HostTables>(`postgres://memsync@127.0.0.1:${portOf(server)}/x`, 1);
  await expect(pool.use((session) => session.query("SELECT 1"))).rejects.toThrow(
    "the database can't be reached",
  );
  await pool.end();
  server.close();
});

test("a server is ready by whatever plan PostgreSQL looks at its schema", async () => {
  const { address } = await newDatabase();
  await using first = await openReady(address);
  expect(await first.status()).toBe(200);
  // Catalogs are read whole: then conditions are asked of rows that a join would leave out.
  const plans = ["indexscan", "indexonlyscan", "bitmapscan", "nestloop", "memoize"];
  const options = plans.map((each) => `-c enable_${each}=off`).join(" ");
  await using other = await openReady(`${address}&options=${encodeURIComponent(options)}`);
  expect(await other.status()).toBe(200);
});

test("a database that is lost, or takes no writes, shows in /readyz until it is back", async () => {
  const { address } = await newDatabase();
  const way = await openWay(address);
  await using host = await openReady(way.address);
  const { status } = host;
  expect(await status()).toBe(200);
  way.cut();
  await waitFor("an outage that shows", async () => (await status()) === 503);
  way.mend();
  await waitFor("a server that is ready again", async () => (await status()) === 200);
  // As where its machine has lost its power: no connection ends.
  way.hush();
  await waitFor("a silence that shows", async () => (await status()) === 503);
  way.mend();
  await waitFor("a server that hears again", async () => (await status()) === 200);
  way.close();
});
