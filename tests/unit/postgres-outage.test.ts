import { expect, test } from "bun:test";
import { join } from "node:path";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { copyDatabase } from "../../server/copy/copy-database.ts";
import { createHostApp } from "../../server/host-app.ts";
import { openAnyDatabase } from "../../server/stores/open-any.ts";
import { silentLog } from "../../shared/log.ts";
import { COMMIT_HELD_UP, foreseen, STANDBY_LOST } from "../../shared/postgres/failures.ts";
import { realWorld } from "../../shared/world-real.ts";
import { endWithThisProcess } from "../support/postgres-cluster.ts";
import { METRICS_TOKEN, openHost } from "../support/postgres-host.ts";
import { runOnPostgres, serversOfTests } from "../support/postgres-servers.ts";
import { openWay } from "../support/postgres-way.ts";
import { startPostgres } from "../support/start-postgres.ts";
import { waitFor } from "../support/wait-for.ts";

const newDatabase = serversOfTests();

/** A commit without an answer is given up after 40 seconds. */
const FIRST_WITHIN_MS = 35_000;

test("a client hears nothing of where the database is, and the log has it", async () => {
  const { address } = await newDatabase();
  const way = await openWay(address);
  await using host = await openHost(way.address);
  way.cut();
  const answer = await host.ask("/v1/memories", { content: "x", layer: "global" });
  const told = await answer.text();
  expect(answer.status).toBe(500);
  expect(told).toContain("the server can't use its database now");
  for (const secret of [new URL(way.address).port, "127.0.0.1", "--database-url", "ECONN"]) {
    expect(told).not.toContain(secret);
  }
  const { request_id: id } = JSON.parse(told).error;
  expect(host.logged).toContainEqual(
    expect.objectContaining({
      request_id: id,
      error: expect.stringContaining("see that it runs, and --database-url"),
    }),
  );
  way.mend();
  way.close();
});

test("who is refused for want of a connection hears nothing of the database's names", () => {
  const thrown = Object.assign(new Error('too many connections for database "acme"'), {
    code: "53300",
  });
  expect(foreseen(thrown)).toMatchObject({
    message: expect.stringContaining('"acme"'),
    told: "the server has too much to do: try again later",
  });
});

test("a read on a connection that has just died has another one", async () => {
  const { address } = await newDatabase();
  const way = await openWay(address);
  await using host = await openHost(way.address);
  const accounts = host.database.reader.selectFrom("accounts").select("name");
  expect(await accounts.execute()).toEqual([{ name: "acme" }]);
  way.cut();
  way.mend();
  // Nobody has noticed yet.
  expect(await accounts.execute()).toEqual([{ name: "acme" }]);
  expect((await host.ask("/v1/memories")).status).toBe(200);
  way.cut();
  way.mend();
  expect((await host.ask("/v1/memories")).status).toBe(200);
  expect(host.logged).toEqual([]);
  way.close();
});

test("connections that have all died unnoticed cost nobody anything", async () => {
  const { address } = await newDatabase();
  const way = await openWay(address);
  await using host = await openHost(way.address);
  const write = (content: string) => host.ask("/v1/memories", { content, layer: "global" });
  const many = Array.from({ length: 12 }, (_, at) => `${at}`);
  await Promise.all(many.flatMap((each) => [write(each), host.ask("/v1/memories")]));
  for (let times = 0; times < 3; times++) {
    way.forget();
    expect((await host.ask("/v1/memories")).status).toBe(200);
    way.forget();
    expect((await write("again")).status).toBe(200);
  }
  // What the server does by itself each second may have been under way, and is done again.
  expect(host.logged.filter((entry) => "request_id" in entry)).toEqual([]);
  way.close();
});

test("the figures of a server whose database is gone say so, and come without the rest", async () => {
  const { address } = await newDatabase();
  const way = await openWay(address);
  await using host = await openHost(way.address);
  const figures = async () => await (await host.ask("/metrics", undefined, METRICS_TOKEN)).text();
  for (const line of ["memsync_ready 1", "memsync_database_bytes "]) {
    expect(await figures()).toContain(line);
  }
  way.hush();
  await waitFor("an outage that shows", async () => (await figures()).includes("memsync_ready 0"));
  expect(await figures()).not.toContain("memsync_database_bytes");
  way.mend();
  await waitFor("the database", async () => (await figures()).includes("memsync_database_bytes"));
  way.close();
});

test("a user without a right to one of the tables shows in /readyz, and at the next start", async () => {
  const { address } = await newDatabase();
  const name = new URL(address).pathname.slice(1);
  await runOnPostgres(
    address,
    "DROP ROLE IF EXISTS clerk",
    "CREATE ROLE clerk LOGIN PASSWORD 'clerk'",
    `ALTER DATABASE ${name} OWNER TO clerk`,
  );
  const clerk = Object.assign(new URL(address), { username: "clerk", password: "clerk" }).href;
  await using host = await openHost(clerk);
  const status = async () => (await host.ask("/readyz")).status;
  expect(await status()).toBe(200);
  await runOnPostgres(address, "REVOKE INSERT ON memories FROM clerk");
  await waitFor("a lack that shows", async () => (await status()) === 503);
  const said = "the database's user may not read and write memories: GRANT SELECT, INSERT";
  expect(host.logged).toContainEqual({ reason: expect.stringContaining(said) });
  await expect(
    createHostApp({ path: clerk, world: realWorld, log: silentLog, loopbackOnly: true }),
  ).rejects.toThrow(said);
  await runOnPostgres(address, "GRANT INSERT ON memories TO clerk");
  await waitFor("a server that is ready again", async () => (await status()) === 200);
});

test("writes that wait behind a commit that hangs are refused as soon as that is known", async () => {
  const { folder, address } = await startPostgres();
  endWithThisProcess(folder);
  await using host = await openHost(address);
  expect((await host.write("before")).status).toBe(200);
  const reload = "SELECT pg_reload_conf()";
  await runOnPostgres(address, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", reload);
  const first = host.write("first");
  let isHanging = true;
  void first.then(() => {
    isHanging = false;
  });
  const hanging = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await waitFor("a commit that hangs", async () => {
    return (await runOnPostgres(address, hanging)).length > 0;
  });
  expect((await host.write("second")).status).toBe(429);
  expect((await host.write("third")).status).toBe(429);
  const commands = await openAnyDatabase(address, realWorld);
  const revoked = new HostAdmin(commands, realWorld).revokeToken("tok_any");
  await expect(revoked).rejects.toThrow("commits wait for the database's synchronous standby");
  await commands.close();
  // So it is where something else is wrong besides.
  const beside = "SET synchronous_commit = local";
  const [lost, back] = ["sweeps ALTER one DROP DEFAULT", "sweeps ALTER one SET DEFAULT true"];
  await runOnPostgres(address, beside, `ALTER TABLE ${lost}`);
  const isTold = () => host.logged.some((entry) => JSON.stringify(entry).includes(back));
  await waitFor("a lack that shows", isTold);
  expect((await host.write("fourth")).status).toBe(429);
  expect(isHanging).toBe(true);
  await runOnPostgres(address, beside, `ALTER TABLE ${back}`);
  await runOnPostgres(address, "ALTER SYSTEM RESET synchronous_standby_names", reload);
  expect((await first).status).toBe(200);
  await waitFor("a write", async () => (await host.write("after")).status === 200);
  expect((await host.keys()).sort()).toEqual(["after", "before", "first"]);
});

/** A server reads its settings again only some time after it was told to. */
async function standbyIs(address: string, name: string): Promise<void> {
  await waitFor(`the standby "${name}"`, async () => {
    const [row] = await runOnPostgres(address, "SHOW synchronous_standby_names");
    return row?.synchronous_standby_names === name;
  });
}

test(
  "a command that is the first to wait for a lost standby says so long before it is given up",
  async () => {
    const { folder, address } = await startPostgres();
    endWithThisProcess(folder);
    const commands = await openAnyDatabase(address, realWorld);
    const admin = new HostAdmin(commands, realWorld);
    await admin.createAccount("acme", "pro");
    const reload = "SELECT pg_reload_conf()";
    await runOnPostgres(address, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", reload);
    await standbyIs(address, "nobody");
    await expect(admin.createAccount("late", "pro")).rejects.toThrow(COMMIT_HELD_UP);
    await expect(admin.createAccount("later", "pro")).rejects.toThrow(STANDBY_LOST);
    await runOnPostgres(address, "ALTER SYSTEM RESET synchronous_standby_names", reload);
    const names = async () => (await admin.listAccounts()).map(({ name }) => name).sort();
    await waitFor("the account", async () => (await names()).length === 2);
    expect(await names()).toEqual(["acme", "late"]);
    await commands.close();
  },
  FIRST_WITHIN_MS,
);

test(
  "a first start and a copy that wait for a lost standby say so long before they are given up",
  async () => {
    const { folder, address } = await startPostgres();
    endWithThisProcess(folder);
    const file = join(folder, "copied.db");
    const source = await openAnyDatabase(file, realWorld);
    await new HostAdmin(source, realWorld).createAccount("acme", "pro");
    await source.close();
    const reload = "SELECT pg_reload_conf()";
    const lose = "ALTER SYSTEM SET synchronous_standby_names = 'nobody'";
    const find = "ALTER SYSTEM RESET synchronous_standby_names";
    await runOnPostgres(address, lose, reload);
    await standbyIs(address, "nobody");
    await expect(openAnyDatabase(address, realWorld)).rejects.toThrow(COMMIT_HELD_UP);
    await runOnPostgres(address, find, reload);
    await standbyIs(address, "");
    await (await openAnyDatabase(address, realWorld)).close();
    await runOnPostgres(address, lose, reload);
    await standbyIs(address, "nobody");
    const copying = () => copyDatabase({ from: file, to: address, world: realWorld });
    await expect(copying()).rejects.toThrow(COMMIT_HELD_UP);
    await expect(copying()).rejects.toThrow(STANDBY_LOST);
    await runOnPostgres(address, find, reload);
    const names = async () => (await runOnPostgres(address, "SELECT name FROM accounts")).length;
    await waitFor("the copy", async () => (await names()) === 1);
  },
  FIRST_WITHIN_MS,
);
