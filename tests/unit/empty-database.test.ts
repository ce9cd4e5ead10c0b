import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { createHostFile } from "../../server/stores/create-host-file.ts";
import { hostMigrations, hostSchema } from "../../server/stores/open-store.ts";
import { openDatabase } from "../../shared/sqlite/database.ts";
import { readSchemaState } from "../../shared/sqlite/misfit.ts";
import { failureOf } from "../support/failure.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-new-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a new database is one that nothing is left to do to; else run `npx bun scripts/empty-database.ts`", async () => {
  const path = join(folder, "one.db");
  createHostFile(path);
  expect(readdirSync(folder)).toEqual(["one.db"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const before = readFileSync(path);
  const database = await openDatabase<object>({ path });
  expect(readFileSync(path)).toEqual(before);
  expect(await readSchemaState(database.reader, hostSchema)).toEqual({ kind: "current" });
  const steps = sql<{ name: string }>`select name from schema_migrations order by name`;
  const { rows } = await steps.execute(database.reader);
  expect(rows.map(({ name }) => name)).toEqual(hostMigrations.map(({ name }) => name).sort());
  const vacuum = await sql`pragma auto_vacuum`.execute(database.reader);
  expect(vacuum.rows).toEqual([{ auto_vacuum: 2 }]);
  const check = await sql`pragma integrity_check`.execute(database.reader);
  expect(check.rows).toEqual([{ integrity_check: "ok" }]);
  await database.close();
});

test("a file that another process has made meanwhile is not replaced", async () => {
  const path = join(folder, "two.db");
  writeFileSync(path, "another's");
  expect(String(await failureOf(async () => createHostFile(path)))).toContain("EEXIST");
  expect(readFileSync(path, "utf8")).toBe("another's");
  expect(readdirSync(folder).filter((name) => name.startsWith("two"))).toEqual(["two.db"]);
});
