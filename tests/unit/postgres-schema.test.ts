import { expect, test } from "bun:test";
import { copyDatabase } from "../../server/copy/copy-database.ts";
import { openPostgresDatabase } from "../../server/stores/open-postgres-store.ts";
import { hostMigrationsOnPostgres } from "../../server/stores/postgres-schema.ts";
import { lookAtServer } from "../../shared/postgres/check-server.ts";
import { openPostgres } from "../../shared/postgres/database.ts";
import type { PostgresMigration } from "../../shared/postgres/migrate.ts";
import { partsThere } from "../../shared/postgres/schema-look.ts";
import { schemaPartsOf } from "../../shared/postgres/schema-parts.ts";
import { realWorld } from "../../shared/world-real.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";

/** What changes nothing that a program knows which does not know the step. */
const ADDS =
  /^(CREATE (TABLE|INDEX|FUNCTION|TRIGGER) |ALTER TABLE \w+ ALTER (COLUMN )?\w+ SET STORAGE )/;

/** A column that whoever inserts without naming it leaves out. */
const ADDS_COLUMN =
  /^ALTER TABLE \w+ ADD (COLUMN )?\w+ (?!.*\b(UNIQUE|CHECK|REFERENCES|PRIMARY)\b)/s;

/**
 * Statements with which servers of two releases can't run at once, in steps that say that they can.
 * A step only adds; what it replaces goes in a later release.
 */
function contractions(migrations: readonly PostgresMigration[]): string[] {
  return migrations.flatMap(({ name, breaks, statements }) => {
    if (breaks) return [];
    const own = statements.flatMap((each) => /^CREATE TABLE (\w+)/.exec(each)?.[1] ?? []);
    return statements
      .filter((statement) => !onlyAdds(statement, own))
      .map((statement) => `${name}: ${statement.split("\n")[0]}`);
  });
}

/** `own`: tables that the same step makes, which nobody else knows. */
function onlyAdds(statement: string, own: readonly string[]): boolean {
  if (ADDS.test(statement)) return true;
  const target = /^(INSERT INTO|CREATE UNIQUE INDEX \w+ ON) (\w+)/.exec(statement)?.[2];
  if (target !== undefined) return own.includes(target);
  return ADDS_COLUMN.test(statement) && (!/NOT NULL/.test(statement) || /DEFAULT/.test(statement));
}

test("a step of the schema that servers of two releases share only adds", () => {
  expect(contractions(hostMigrationsOnPostgres)).toEqual([]);
});

test("a step that takes away, renames or narrows is found, unless it says that it breaks", () => {
  const statements = [
    "CREATE TABLE more (id bigint PRIMARY KEY)",
    "INSERT INTO more VALUES (1)",
    "CREATE UNIQUE INDEX more_by_id ON more (id)",
    "ALTER TABLE tokens ADD note text",
    "ALTER TABLE tokens ADD COLUMN uses bigint NOT NULL DEFAULT 0",
    "ALTER TABLE snapshots ALTER payload SET STORAGE EXTERNAL",
  ];
  const narrowing = [
    "DROP TABLE sessions",
    "ALTER TABLE tokens DROP COLUMN name",
    "ALTER TABLE tokens RENAME name TO label",
    "ALTER TABLE tokens ALTER name TYPE bigint",
    "ALTER TABLE tokens ALTER note SET NOT NULL",
    "ALTER TABLE tokens ADD COLUMN kind text NOT NULL",
    "ALTER TABLE tokens ADD COLUMN kind text CHECK (kind <> '')",
    "ALTER TABLE tokens ADD CONSTRAINT one UNIQUE (name)",
    "CREATE UNIQUE INDEX tokens_by_name ON tokens (name)",
    "CREATE OR REPLACE FUNCTION note_token_change() RETURNS trigger",
    "UPDATE tokens SET name = ''",
    "DELETE FROM tokens",
    "INSERT INTO tokens VALUES (1)",
  ];
  const step = { name: "step", statements: [...statements, ...narrowing] };
  expect(contractions([{ ...step, breaks: false }])).toEqual(
    narrowing.map((each) => `step: ${each}`),
  );
  expect(contractions([{ ...step, breaks: true }])).toEqual([]);
});

test("the parts that a program looks for are those that its steps make", async () => {
  const address = await (await postgresCluster()).createDatabase();
  await (await openPostgresDatabase(address, realWorld)).close();
  const { tables, functions, steps } = schemaPartsOf(hostMigrationsOnPostgres);
  const found = (await runOnPostgres(address, partsThere(tables, functions))).map(
    ({ part }) => `${part}`,
  );
  const made = steps.flatMap((step) => step.made).map(({ name }) => name);
  expect(made.sort()).toEqual(found.sort());
  const own = await runOnPostgres(
    address,
    "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
  );
  const names = own.map(({ relname }) => `${relname}`).sort();
  expect([...tables, "schema_migrations"].sort()).toEqual(names);
});

test("what a step makes is the owner's, whoever takes the step", async () => {
  const address = await (await postgresCluster()).createDatabase();
  const name = new URL(address).pathname.slice(1);
  const former = hostMigrationsOnPostgres.filter(({ name: step }) => !/long-meta/.test(step));
  const role = `owner_${name}`;
  await runOnPostgres(
    address,
    `CREATE ROLE ${role} LOGIN PASSWORD 'owner'`,
    `GRANT ALL ON SCHEMA public TO ${role}`,
  );
  const owner = `${Object.assign(new URL(address), { username: role, password: "owner" })}`;
  await (await openPostgres(owner, former, realWorld)).close();
  // A superuser may do everything.
  await (await openPostgresDatabase(address, realWorld)).close();
  const owners = await runOnPostgres(
    address,
    `SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class
      WHERE relnamespace = 'public'::regnamespace`,
  );
  expect(owners).toEqual([{ owner: role }]);
  await (await openPostgresDatabase(owner, realWorld)).close();
  await runOnPostgres(owner, "INSERT INTO schema_migrations VALUES ('replica-9998-adds', false)");
  await runOnPostgres(address, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
});

test("only the tables' owner updates the schema, and others, who make none, go on with it", async () => {
  const address = await (await postgresCluster()).createDatabase();
  const isLater = ({ name }: PostgresMigration) => /long-metadata|changed-tokens/.test(name);
  const former = hostMigrationsOnPostgres.filter(
    (step) => !isLater(step) && !/removed/.test(step.name),
  );
  await (await openPostgres(address, former, realWorld)).close();
  const role = `writer_${new URL(address).pathname.slice(1)}`;
  await runOnPostgres(
    address,
    `CREATE ROLE ${role} LOGIN PASSWORD 'writer'`,
    `GRANT USAGE ON SCHEMA public TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
  );
  const writer = `${Object.assign(new URL(address), { username: role, password: "writer" })}`;
  // Whether a number was given before, to a row that is gone, shows by the sequence alone.
  await expect(openPostgres(writer, former, realWorld)).rejects.toThrow(
    /user may not read \w+_seq.*: GRANT SELECT.* GRANT USAGE, SELECT ON ALL SEQUENCES$/,
  );
  const sequences = "USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public";
  await runOnPostgres(address, `GRANT ${sequences} TO ${role}`);
  await (await openPostgres(writer, former, realWorld)).close();
  const owner = decodeURIComponent(new URL(address).username);
  await expect(openPostgresDatabase(writer, realWorld)).rejects.toThrow(
    `the schema has to be updated, and its tables are those of ${owner}: run this once as ${owner}`,
  );
  await (await openPostgresDatabase(address, realWorld)).close();
  const database = await openPostgresDatabase(writer, realWorld);
  const found = await lookAtServer(database.reading, schemaPartsOf(hostMigrationsOnPostgres));
  expect(found).toMatchObject({ problem: undefined, isHeldUp: false });
  await runOnPostgres(address, `REVOKE ${sequences} FROM ${role}`);
  const { problem } = await lookAtServer(database.reading, schemaPartsOf(hostMigrationsOnPostgres));
  expect(problem).toContain("may not read documents_id_seq");
  await database.close();
  const copy = copyDatabase({ from: writer, to: ":memory:", world: realWorld });
  await expect(copy).rejects.toThrow("may not read documents_id_seq");
  await runOnPostgres(address, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
});
