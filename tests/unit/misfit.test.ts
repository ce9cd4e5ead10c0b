import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Home, homeOf, prepareHome } from "../../daemon/home/home.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { daemonSchema } from "../../daemon/home/migrations.ts";
import { openHomeDatabase, openHomeReader } from "../../daemon/home/open-home.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { recoverHome } from "../../daemon/recovery/recover-home.ts";
import { hostSchema, openHostStore } from "../../server/stores/open-store.ts";
import { silentLog } from "../../shared/log.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { kyselyOver, openConnection } from "../../shared/sqlite/database.ts";
import { readSchemaState, shapeMadeBy } from "../../shared/sqlite/misfit.ts";
import { fingerprintOf, misfitOf, readShape } from "../../shared/sqlite/shape.ts";
import { realWorld } from "../../shared/world-real.ts";
import { failureOf } from "../support/failure.ts";
import { projectId } from "../support/project-id.ts";
import { NOW } from "../support/replicas.ts";

const ADDRESS = projectDocument(LOCAL_ACCOUNT, projectId("a"));

let home: Home;
beforeEach(async () => {
  home = homeOf({ MEMSYNC_HOME: mkdtempSync(join(tmpdir(), "memsync-misfit-")) });
  prepareHome(home);
  const store = await openReplica(home.database, realWorld, { machine: "machine" });
  await store.write(async (context) => {
    const { document } = await context.open(ADDRESS);
    document.setEntry("memories", "k", { value: "v", now: NOW });
  });
  await store.close();
});
afterEach(() => rmSync(home.dir, { recursive: true, force: true }));

function change(statements: string, path = home.database): void {
  const database = new Database(path);
  database.exec(statements);
  database.close();
}

async function stateOf(path = home.database): Promise<string> {
  const connection = await openConnection(path, true);
  try {
    const state = await readSchemaState(kyselyOver(connection, undefined), daemonSchema);
    return state.kind === "misfit" ? state.reason : state.kind;
  } finally {
    connection.close();
  }
}

/** All that is in the present home's database by the names that are looked at. */
function namesIn(query: string): { table: string; column: string }[] {
  const database = new Database(home.database, { readonly: true });
  const rows = database.query(query).all();
  database.close();
  return rows as { table: string; column: string }[];
}

async function memories(): Promise<object[]> {
  const reader = await openHomeReader(home.database);
  const rows = await reader?.selectFrom("memories").select(["key", "value"]).execute();
  await reader?.destroy();
  return rows ?? [];
}

test("what a schema is known by is what its migrations make", async () => {
  for (const { migrations, fingerprint } of [daemonSchema, hostSchema]) {
    expect(fingerprintOf(await shapeMadeBy(migrations))).toBe(fingerprint);
  }
  expect(await stateOf()).toBe("current");
});

test("no table and no column is missing without being named", async () => {
  const columns = namesIn(`select m.name as "table", p.name as "column"
    from sqlite_master m, pragma_table_info(m.name) p
    where m.type = 'table' and m.name not like 'sqlite_%' and m.name not like 'memories_text%'`);
  expect(columns.length).toBeGreaterThan(150);
  const expected = await shapeMadeBy(daemonSchema.migrations);
  const database = new Database(home.database);
  const kysely = kyselyOver(await openConnection(home.database, true), undefined);
  const misfit = async () => misfitOf(await readShape(kysely), expected);
  for (const { table, column } of columns) {
    database.exec(`alter table "${table}" rename column "${column}" to "other"`);
    expect(await misfit()).toBe(`it has no column ${column} of ${table}`);
    database.exec(`alter table "${table}" rename column "other" to "${column}"`);
  }
  for (const table of new Set(columns.map((each) => each.table))) {
    database.exec(`alter table "${table}" rename to "other"`);
    expect(await misfit()).toBe(`it has no table ${table}`);
    database.exec(`alter table "other" rename to "${table}"`);
  }
  await kysely.destroy();
  database.close();
  expect(await stateOf()).toBe("current");
});

test("a column that is missing is told before anything is read, and nothing is changed", async () => {
  change("alter table memories rename column value to other");
  const before = readFileSync(home.database);
  for (const open of [openHomeReader, openHomeDatabase]) {
    const { message } = (await failureOf(() => open(home.database) as Promise<unknown>)) as Error;
    expect(message).toContain("can't be opened (it has no column value of memories)");
    expect(message).toContain("`memsync restart` sets it aside");
  }
  expect(readFileSync(home.database)).toEqual(before);
});

test("what does not stand in the way of any write is let be", async () => {
  change("create table strangers (a); alter table links add column note text");
  expect(await stateOf()).toBe("current");
  expect(await memories()).toEqual([{ key: "k", value: "v" }]);
});

test("what would change or refuse our writes is told", async () => {
  change("create trigger t after insert on links begin update links set name = 'x'; end");
  expect(await stateOf()).toBe("it has a trigger t, which memsync did not make");
  change("drop trigger t; drop table links");
  change(
    "create table links (dir text primary key, project_id text not null, name text not null, " +
      "write integer not null, file text, linked_at integer not null, also text, more text not null)",
  );
  expect(await stateOf()).toMatch(/^it has a column more of links that has to be given/);
});

test("a table that was made anew without its key is told", async () => {
  change("create table other as select * from links; drop table links");
  change("alter table other rename to links");
  expect(await stateOf()).toMatch(/^it has no key column dir of links/);
});

test("a step that was made in half is told, and one that is to come is not", async () => {
  const step = "daemon-0004-request-budgets";
  change(`drop table request_budgets; delete from schema_migrations where name = '${step}'`);
  expect(await stateOf()).toBe("older");
  change("create table request_budgets (x)");
  expect(await stateOf()).toContain('"request_budgets" already exists');
  change("drop table schema_migrations");
  expect(await stateOf()).toContain("already exists");
});

test("what can be read of a misfit comes into a new database, and the misfit is kept", async () => {
  change(
    "alter table followed_files rename column form to other; alter table links drop column write",
  );
  const before = readFileSync(home.database);
  const [note, ...others] = await recoverHome(home, realWorld, silentLog);
  expect(others).toEqual([]);
  expect(note?.reason).toMatch(/^it has no column (form of followed_files|write of links)$/);
  expect(readFileSync(note?.set_aside ?? "")).toEqual(before);
  expect(await stateOf()).toBe("current");
  expect(await memories()).toEqual([{ key: "k", value: "v" }]);
  expect(await recoverHome(home, realWorld, silentLog)).toEqual([]);
});

test("documents are read where what they are made of is there", async () => {
  change("alter table documents rename column sync_count to other; drop table texts");
  expect(await recoverHome(home, realWorld, silentLog)).toHaveLength(1);
  expect(await memories()).toEqual([{ key: "k", value: "v" }]);
});

for (const [where, and] of [
  ["", ""],
  [" where no step is recorded", "; drop table schema_migrations"],
]) {
  test(`a write that lost its value is no deletion${where}`, async () => {
    change(`insert into inbox (document, key, value, seen, written_at)
      values ('${ADDRESS.name}', 'k', 'new', '[]', ${NOW});
      alter table inbox rename column value to other${and}`);
    const [note] = await recoverHome(home, realWorld, silentLog);
    expect(note?.message).toContain("0 writes made without a daemon");
    expect(await memories()).toEqual([{ key: "k", value: "v" }]);
  });
}

test("an embedded service's misfit begins anew, and a server's is refused", async () => {
  await (await openHostStore(home.service, realWorld)).close();
  change("alter table documents rename column seq to other", home.service);
  const before = readFileSync(home.service);
  expect(String(await failureOf(() => openHostStore(home.service, realWorld)))).toContain(
    "is not as memsync made it (it has no column seq of documents); nothing was changed",
  );
  expect(readFileSync(home.service)).toEqual(before);
  const [note] = await recoverHome(home, realWorld, silentLog);
  expect(note?.message).toContain("the embedded service begins anew");
  await (await openHostStore(home.service, realWorld)).close();
});
