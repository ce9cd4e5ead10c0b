import { expect, test } from "bun:test";
import { listMemories } from "../../server/stores/memory-store.ts";
import type { SqliteConnection } from "../../shared/sqlite/connection.ts";
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
