import { afterEach, expect, test } from "bun:test";
import { sql } from "kysely";
import { HostAdmin, type TokenRequest } from "../../server/accounts/host-admin.ts";
import { HostRemoval } from "../../server/accounts/host-removal.ts";
import { TokenAuthenticator } from "../../server/accounts/token-authenticator.ts";
import { TokenWatch } from "../../server/accounts/token-watch.ts";
import { openSharedParts } from "../../server/host-on-postgres.ts";
import { sharedCounts } from "../../server/limits/shared-counts.ts";
import { SharedLimits } from "../../server/limits/shared-limits.ts";
import { deleteTokens, deleteUser, markUsed } from "../../server/stores/account-store.ts";
import type { HostTables } from "../../server/stores/account-tables.ts";
import type { HostDatabase } from "../../server/stores/host-database.ts";
import { keepOthersOut } from "../../server/stores/keep-others-out.ts";
import { openAnyDatabase, worldOfDatabase } from "../../server/stores/open-any.ts";
import { hostMigrationsOnPostgres } from "../../server/stores/postgres-schema.ts";
import { asAccountId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { openPostgres, type PostgresDatabase } from "../../shared/postgres/database.ts";
import {
  COMMIT_HELD_UP,
  DatabaseFailure,
  REMOVAL_HELD_UP,
} from "../../shared/postgres/failures.ts";
import { sweepHistory } from "../../shared/replica/history/sweep-history.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { delay, type World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { TEAM } from "../support/counted-requests.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { serversOfTests } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

const REQUEST: TokenRequest = {
  account: "acme",
  user: "ann",
  name: "laptop",
  scope: "write",
  projects: null,
  expiresAt: null,
};

const serversOf = serversOfTests();
const opened: PostgresDatabase<HostTables>[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** Servers, as many as asked for, on one new database. */
async function openServers(servers: number): Promise<PostgresDatabase<HostTables>[]> {
  const address = await (await postgresCluster()).createDatabase();
  for (let made = 0; made < servers; made++) {
    opened.push(await openPostgres(address, hostMigrationsOnPostgres, realWorld));
  }
  return opened;
}

async function openTwo() {
  const [one, two] = await openServers(2);
  if (!one || !two) throw new Error("two were asked for");
  return [one, two] as const;
}

test("a token that one server makes is known to another, which refuses it once it is revoked", async () => {
  const [one, two] = await openTwo();
  const admin = new HostAdmin(one, realWorld);
  await admin.createAccount("acme", "team");
  const { id, token } = await admin.createToken(REQUEST);
  const tokens = new TokenAuthenticator(two, realWorld, silentLog);
  const caller = await tokens.authenticate(`Bearer ${token}`);
  expect(caller).toMatchObject({ plan: "team", canWrite: true, boundTo: null });
  const isValid = () => two.write(async (db) => caller?.assertValid?.(narrowTables(db)));
  await isValid();
  await admin.revokeToken(id);
  tokens.forget();
  expect(await tokens.authenticate(`Bearer ${token}`)).toBeUndefined();
  await expect(isValid()).rejects.toMatchObject({ code: "unauthorized" });
  await tokens.settled();
});

test("a write of an account that began before a token is revoked is over when that is", async () => {
  const [one, two] = await openTwo();
  const admin = new HostAdmin(one, realWorld);
  const { id: account } = await admin.createAccount("acme", "team");
  const { id } = await admin.createToken(REQUEST);
  const order: string[] = [];
  let begun = () => {};
  const began = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const write = two.write(async (db) => {
    await keepOthersOut(db, account);
    begun();
    await delay(realWorld, 50);
    order.push("written");
  });
  await began;
  await admin.revokeToken(id);
  order.push("revoked");
  await write;
  expect(order).toEqual(["written", "revoked"]);
});

test("a command gives tokens their end by the database's clock, and on a file by its own", async () => {
  const behind: World = { ...realWorld, now: () => realWorld.now() - 86_400_000 };
  const [one] = await openTwo();
  const shared = await worldOfDatabase(one, behind);
  expect(Math.abs(shared.now() - realWorld.now())).toBeLessThan(60_000);
  const file = await openAnyDatabase(":memory:", realWorld);
  expect(await worldOfDatabase(file, behind)).toBe(behind);
  await file.close();
});

test("tokens that are made, revoked, and removed with others in their place, are noticed", async () => {
  const [one, two] = await openTwo();
  const world = createDrivenWorld();
  const admin = new HostAdmin(one, world);
  const removal = new HostRemoval(one, world, async () => false);
  await admin.createAccount("acme", "team");
  let changes = 0;
  const onChange = () => {
    changes += 1;
  };
  const watch = new TokenWatch({ db: two.reader, world, log: silentLog, onChange });
  await watch.start();
  const noticed = async () => {
    const before = changes;
    world.advance(1001);
    await waitFor("the look to be over", () => world.timers > 0);
    return changes - before;
  };
  expect(await noticed()).toBe(0);
  await admin.createToken({ ...REQUEST, user: "ann" });
  const { id } = await admin.createToken({ ...REQUEST, user: "bob" });
  expect(await noticed()).toBe(1);
  // A use ends nothing.
  await one.write((db) => markUsed(db, id, world.now()));
  expect(await noticed()).toBe(0);
  await admin.revokeToken(id);
  expect(await noticed()).toBe(1);
  await removal.removeUser(await removal.getUser("acme", "ann"));
  await admin.createToken({ ...REQUEST, user: "ann" });
  expect(await noticed()).toBe(1);
  const gone = await removal.getUser("acme", "bob");
  await one.write((db) => deleteTokens(db, { user: gone.id }, world.now()));
  expect(await noticed()).toBe(1);
  await one.write((db) => deleteUser(db, gone.id));
  expect(await noticed()).toBe(1);
  await watch.stop();
});

test("whose tokens have changed is told, and of a database put back to before it is not known", async () => {
  const [one, two] = await openTwo();
  const world = createDrivenWorld();
  const admin = new HostAdmin(one, world);
  const [acme, other] = [
    await admin.createAccount("acme", "team"),
    await admin.createAccount("other", "team"),
  ];
  await admin.createToken({ ...REQUEST, account: "other" });
  const told: (readonly string[] | "any")[] = [];
  const watch = new TokenWatch({
    db: two.reader,
    world,
    log: silentLog,
    onChange: (accounts) => void told.push(accounts ? [...accounts].sort() : "any"),
  });
  await watch.start();
  const look = async () => {
    world.advance(1001);
    await waitFor("the look to be over", () => world.timers > 0);
  };
  const { id } = await admin.createToken(REQUEST);
  await look();
  await admin.revokeToken(id);
  await admin.createToken({ ...REQUEST, account: "other" });
  await look();
  await sql`update token_changes set version = 1`.execute(one.reader);
  await look();
  expect(told).toEqual([[acme.id], [acme.id, other.id].sort(), "any"]);
  await watch.stop();
});

test("tokens of two accounts that change at the same time are both told", async () => {
  const [one, two] = await openTwo();
  const admin = new HostAdmin(one, realWorld);
  for (const account of ["acme", "other"]) await admin.createAccount(account, "team");
  const both = [one, two].map((each) => new HostAdmin(each, realWorld));
  const make = (at: number) =>
    both[at % 2]?.createToken({ ...REQUEST, account: at % 2 ? "acme" : "other" });
  await Promise.all(Array.from({ length: 10 }, (_, at) => make(at)));
  const { rows } = await sql<{ of: string; version: number }>`
    select 'all' as of, version from token_changes
    union all select account_id, version from changed_tokens order by version`.execute(one.reader);
  const [first, ...last] = rows.map(({ version }) => version);
  // Each change has a version of its own, and nobody who has seen one misses an earlier one.
  expect(last).toEqual([10, 10]);
  expect(first).toBeLessThan(10);
});

test("two servers that make one account, and tokens of one new user, make each once", async () => {
  const servers = await openTwo();
  const admins = servers.map((each) => new HostAdmin(each, realWorld));
  const made = await Promise.allSettled(admins.map((each) => each.createAccount("acme", "pro")));
  expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  await Promise.all(admins.map((each) => each.createToken(REQUEST)));
  expect(await admins[0]?.listUsers("acme")).toHaveLength(1);
  expect(await admins[1]?.listTokens("acme")).toHaveLength(2);
});

test("a removed account leaves nothing behind but the ids of its tokens", async () => {
  const [one] = await openTwo();
  const admin = new HostAdmin(one, realWorld);
  await admin.createAccount("other", "pro");
  await admin.createAccount("acme", "pro");
  await admin.createToken(REQUEST);
  const removal = new HostRemoval(one, realWorld, async () => false);
  await removal.removeAccount(await removal.getAccount("acme"));
  expect((await admin.listAccounts()).map(({ name }) => name)).toEqual(["other"]);
  expect(await admin.listTokens(undefined)).toEqual([]);
  const removed = one.reader.selectFrom("removed_tokens").select("id");
  expect(await removed.execute()).toHaveLength(1);
});

test.each(["user", "account"])(
  "a removal of one %s whose step waits says that it is not done",
  async (kind) => {
    const [one] = await openTwo();
    const admin = new HostAdmin(one, realWorld);
    await admin.createAccount("acme", "pro");
    await admin.createToken(REQUEST);
    const waiting: HostDatabase = {
      reader: one.reader,
      async write(work) {
        await one.write(work);
        throw new DatabaseFailure(COMMIT_HELD_UP);
      },
    };
    const remove = async (database: HostDatabase) => {
      const removal = new HostRemoval(database, realWorld, async () => false);
      if (kind === "account") await removal.removeAccount(await removal.getAccount("acme"));
      else await removal.removeUser(await removal.getUser("acme", "ann"));
    };
    await expect(remove(waiting)).rejects.toThrow(REMOVAL_HELD_UP);
    expect(await admin.listUsers("acme")).toHaveLength(1);
    await remove(one);
    const left = kind === "account" ? await admin.listAccounts() : await admin.listUsers("acme");
    expect(left).toEqual([]);
  },
);

test("a server that has written for an account refuses its writes once that is removed", async () => {
  const servers = await serversOf();
  const [one, two] = [await servers.open(), await servers.open()];
  const admin = new HostAdmin(one.database, realWorld);
  const { id: owner } = await admin.createAccount("acme", "team");
  const { token } = await admin.createToken(REQUEST);
  const tokens = new TokenAuthenticator(two.database, realWorld, silentLog);
  const caller = await tokens.authenticate(`Bearer ${token}`);
  const write = () =>
    two.store.write(async ({ db }) => caller?.assertValid?.(narrowTables(db)), { owner });
  await write();
  const removal = new HostRemoval(one.database, realWorld, async () => false);
  await removal.removeAccount(await removal.getAccount("acme"));
  for (const row of ["is there", "is gone, as by hand"]) {
    const refused = await Promise.allSettled([write(), write(), write()]);
    expect([row, refused.map(({ status }) => status)]).toEqual([row, Array(3).fill("rejected")]);
    await sql`delete from owners`.execute(one.database.reader);
  }
  await tokens.settled();
});

test("four servers charge together exactly what the plan allows, and take back what they refuse", async () => {
  const servers = await openServers(4);
  const limits = servers.map((each) => new SharedLimits(sharedCounts(each), realWorld));
  const ask = (at: number) => limits[at % 4]?.quotaOf(TEAM).charge();
  const charges = await Promise.all(Array.from({ length: 240 }, (_, at) => ask(at)));
  const refunds = charges.flatMap((each) => each?.refund ?? []);
  expect(refunds).toHaveLength(120);
  expect(await limits[0]?.read(TEAM)).toMatchObject({ minute: { used: 120, remaining: 0 } });
  expect(await refunds[0]?.()).toMatchObject({
    RateLimit: expect.stringContaining('"minute";r=1;'),
  });
  expect(await limits[3]?.read(TEAM)).toMatchObject({ minute: { used: 119, remaining: 1 } });
});

test("the counts of an account that was quiet for days go in a sweep, and today's stay", async () => {
  const { address: path } = await serversOf();
  const { host, limits } = await openSharedParts({
    path,
    world: realWorld,
    log: silentLog,
    loopbackOnly: true,
  });
  const quiet = { account: asAccountId("acct_quiet"), minute: "[]", day: 20_000, in_day: 7 };
  await host.database.write((db) => db.insertInto("request_counts").values(quiet).execute());
  await (await limits.quotaOf(TEAM)).charge();
  await host.store.sweep();
  const left = host.database.reader.selectFrom("request_counts").select("account");
  expect(await left.execute()).toEqual([{ account: TEAM.account }]);
  await host.close();
});

test("columns that a newer server adds leave an older one's statements as they are", async () => {
  const server = await (await serversOf()).open();
  const { database, store } = server;
  const admin = new HostAdmin(database, realWorld);
  const limits = new SharedLimits(sharedCounts(database), realWorld);
  const run = async () => {
    expect(await admin.listAccounts()).toHaveLength(1);
    expect(await admin.listTokens("acme")).toHaveLength(1);
    await limits.quotaOf(TEAM).charge();
    await database.write((db) => sweepHistory((work) => work(narrowTables(db), realWorld.now())));
    await store.write(
      async (context) => {
        await context.open({ owner: asAccountId("acme"), name: "global" });
      },
      { owner: asAccountId("acme") },
    );
  };
  await admin.createAccount("acme", "team");
  await admin.createToken(REQUEST);
  // A connection prepares a statement once, and there are several.
  for (let times = 0; times < 2; times++) await run();
  // A table that inherits from another one gets its columns with that.
  const { rows } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        AND oid NOT IN (SELECT inhrelid FROM pg_inherits)`.execute(database.reader);
  for (const { name } of rows) {
    await database.write((db) => sql`ALTER TABLE ${sql.table(name)} ADD more bigint`.execute(db));
  }
  for (let times = 0; times < 8; times++) await run();
  await limits.close();
});
