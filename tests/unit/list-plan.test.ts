import { expect, test } from "bun:test";
import { readContested } from "../../cli/local/losing-versions.ts";
import { daemonMigrations } from "../../daemon/home/migrations.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listMemories } from "../../server/stores/memory-store.ts";
import { connect } from "../../shared/sqlite/connect-bun.ts";
import type { SqliteConnection } from "../../shared/sqlite/connection.ts";
import { kyselyOver } from "../../shared/sqlite/database.ts";
import { migrate } from "../../shared/sqlite/migrate.ts";
import { address, OWNER, setMemory } from "../support/stored.ts";
import { storesOfTests } from "../support/temp-store.ts";
import { watched } from "../support/watched-connection.ts";

const newStore = storesOfTests();

/** How SQLite runs a statement, in its own words. */
function planOf(connection: SqliteConnection, sql: string): string {
  const parameters = Array.from({ length: sql.split("?").length - 1 }, () => null);
  const steps = connection.prepare(`explain query plan ${sql}`).all(parameters);
  return (steps as { detail: string }[]).map(({ detail }) => detail).join("\n");
}

test("a page of memories is read in order from an index, of one document and of three", async () => {
  const plans: string[] = [];
  const wrap = (connection: SqliteConnection) =>
    watched(connection, (sql) => {
      if (sql.includes("order by created_at")) plans.push(planOf(connection, sql));
    });
  const { store } = await newStore({ wrap });
  for (const name of ["c", "a", "b"]) await setMemory(store, "key", `in ${name}`, name);
  for (const documents of [["a"], ["a", "b", "c"]]) {
    const rows = await store.write(({ db }) =>
      listMemories(
        db,
        { account: OWNER, documents: documents.map((name) => address(name).name) },
        { from: undefined, limit: 2 },
      ),
    );
    const values = documents.length === 1 ? ["in a"] : ["in c", "in a"];
    expect(rows.map(({ value }) => value)).toEqual(values);
    const plan = plans.pop() ?? "";
    expect(plan.match(/INDEX memories_by_creation/g)).toHaveLength(documents.length);
    expect(plan).not.toContain("TEMP B-TREE");
  }
});

test("a document's conflicts are found by an index, however many memories it has", async () => {
  const plans: string[] = [];
  const connection = connect(":memory:", { readonly: false });
  const watching = watched(connection, (sql) => {
    if (sql.startsWith("select") && sql.includes("entry_ids")) plans.push(planOf(connection, sql));
  });
  const db = kyselyOver<DaemonTables>(watching, undefined);
  await migrate(db, daemonMigrations);
  await readContested(db, { id: 1, name: "project/a" });
  expect(plans).toEqual([expect.stringContaining("INDEX memories_with_rivals")]);
  expect(plans[0]).not.toContain("TEMP B-TREE");
});
