import { expect, test } from "bun:test";
import type { HostTables } from "../../server/stores/account-tables.ts";
import { hostMigrationsOnPostgres } from "../../server/stores/postgres-schema.ts";
import { lookAtServer } from "../../shared/postgres/check-server.ts";
import { SessionPool } from "../../shared/postgres/pool.ts";
import { schemaPartsOf } from "../../shared/postgres/schema-parts.ts";
import { openReady, refusal } from "../support/postgres-host.ts";
import { runOnPostgres, serversOfTests } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

const newDatabase = serversOfTests();

test("a part of the schema that is missing, or somebody else's, is told as such", async () => {
  const { address } = await newDatabase();
  await runOnPostgres(address, "CREATE TABLE documents (id int)");
  expect(await refusal(address)).toMatch(/by a name of memsync's .*"documents".*: name an empty/);
  await runOnPostgres(address, "DROP TABLE documents");
  await using host = await openReady(address);
  expect(await host.status()).toBe(200);
  const parts = schemaPartsOf(hostMigrationsOnPostgres);
  const pool = new SessionPool<HostTables>(address, 1);
  let whole: string | undefined;
  const look = async () => {
    const found = await lookAtServer(pool, parts, { whole });
    whole = found.problem === undefined ? found.mark : undefined;
    return found.problem ?? "all is there";
  };
  const told = async (lost: string, named: string) => {
    await runOnPostgres(address, lost);
    const said = await look();
    expect(said).toStartWith(`the database lacks parts of its schema (${named}`);
    expect(await refusal(address)).toBe(said);
    return said;
  };
  for (const [lost, back, named] of GONE) {
    const whole = "where a backup was put back in part, put the whole of it into an empty database";
    expect(await told(lost, named)).toEndWith(`): take back what was renamed or moved; ${whole}`);
    await runOnPostgres(address, back);
    expect(await look()).toBe("all is there");
  }
  for (const [lost, named, ...ways] of DAMAGE) {
    const said = await told(lost, named);
    const asked = [...said.matchAll(/`([^`]+)`/g)].map(([, way = ""]) => way);
    if (ways.length > 0) expect(asked).toEqual(ways);
    await runOnPostgres(address, ...asked);
    expect(await look()).toBe("all is there");
  }
  await pool.end();
  await runOnPostgres(address, "ALTER TABLE sessions SET UNLOGGED");
  const said = "(logged table sessions): `ALTER TABLE sessions SET LOGGED`";
  await waitFor("a lack that is told", () => host.reasons.at(-1)?.includes(said) ?? false);
  expect(await host.status()).toBe(503);
  await runOnPostgres(address, "ALTER TABLE sessions SET LOGGED");
  await waitFor("a server that is ready again", async () => (await host.status()) === 200);
  // As it is where the rest of the schema is an older release's.
  await runOnPostgres(
    address,
    "DELETE FROM schema_migrations WHERE name ~ 'database-oid|removed-users'",
    "DROP TRIGGER note_removed_user ON users",
    "ALTER TABLE incarnation DROP written_by",
  );
  expect(await refusal(address)).toContain("(row replica-0002-database-oid of schema_migrations):");
});

test("what a newer release adds to the schema, or somebody else, is let be", async () => {
  const { address } = await newDatabase();
  await using host = await openReady(address);
  await runOnPostgres(
    address,
    "INSERT INTO schema_migrations VALUES ('replica-9998-adds', false)",
    "CREATE TABLE newer (id bigint PRIMARY KEY REFERENCES documents)",
    "CREATE UNLOGGED TABLE scratch (id bigint)",
    "ALTER TABLE tokens ADD note text, ADD uses bigint NOT NULL DEFAULT 0",
    "CREATE INDEX tokens_by_note ON tokens (note)",
    "CREATE TRIGGER more AFTER INSERT ON users EXECUTE FUNCTION note_token_change()",
  );
  // The next look that finds anything missing comes after one that has seen what was added.
  await runOnPostgres(address, "ALTER TABLE sessions RENAME TO a");
  await waitFor("a lack that shows", async () => (await host.status()) === 503);
  await runOnPostgres(address, "ALTER TABLE a RENAME TO sessions");
  await waitFor("a server that is ready again", async () => (await host.status()) === 200);
  expect(host.reasons).toHaveLength(1);
  expect(host.reasons[0]).toContain("(table sessions):");
  expect(await refusal(address)).toBe("it was opened");
});

test("a search_path means to memsync what it means to PostgreSQL", async () => {
  // What the address says, and the schema that it names first.
  const paths = [
    ["UpC", "upc"],
    ["nowhere,CM2", "cm2"],
    ['"x]" ,public', "x]"],
    [" trail", "trail"],
    ['"a,b"', "a,b"],
    ['"we""ird", public', 'we"ird'],
    ['"Mem-Sync"', "Mem-Sync"],
    ['"$user", public', "memsync"],
  ] as const;
  const { address } = await newDatabase();
  for (const [path, schema] of paths) {
    const name = `"${schema.replaceAll('"', '""')}"`;
    await runOnPostgres(address, `CREATE SCHEMA ${name}`);
    const url = new URL(address);
    url.searchParams.set("options", `-c search_path=${path.replaceAll(" ", "\\ ")}`);
    const at = `${url}`;
    expect({ path, said: await refusal(at) }).toEqual({ path, said: "it was opened" });
    const made = `SELECT FROM pg_tables WHERE schemaname = '${schema}' AND tablename = 'memories'`;
    expect(await runOnPostgres(address, made)).toHaveLength(1);
    await runOnPostgres(at, "ALTER FUNCTION note_token_change SET search_path = pg_catalog");
    expect(await refusal(at)).toContain("(search_path of note_token_change)");
    await runOnPostgres(at, "ALTER FUNCTION note_token_change SET search_path FROM CURRENT");
    expect(await refusal(at)).toBe("it was opened");
    await runOnPostgres(address, `DROP SCHEMA ${name} CASCADE`);
  }
});

test("steps that come out as other than they are written leave nothing behind", async () => {
  const { address } = await newDatabase();
  await runOnPostgres(
    address,
    "CREATE SCHEMA rules",
    `CREATE FUNCTION rules.without_path() RETURNS event_trigger LANGUAGE plpgsql AS
      'BEGIN ALTER FUNCTION put_long_metadata RESET search_path; END'`,
    `CREATE EVENT TRIGGER without_path ON ddl_command_end WHEN TAG IN ('CREATE TRIGGER')
      EXECUTE FUNCTION rules.without_path()`,
  );
  expect(await refusal(address)).toBe(
    "the database has made something else of memsync's schema than was asked for (search_path of " +
      "put_long_metadata): see its event triggers; nothing was changed",
  );
  const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
  expect(await runOnPostgres(address, tables)).toEqual([]);
  await runOnPostgres(address, "DROP EVENT TRIGGER without_path");
  expect(await refusal(address)).toBe("it was opened");
});

/** What is done to a schema, what takes it back, and what is said to be missing. */
const GONE: readonly (readonly [string, string, string])[] = [
  ["ALTER TABLE sessions RENAME TO a", "ALTER TABLE a RENAME TO sessions", "table sessions)"],
  ["ALTER TABLE sweeps RENAME TO a", "ALTER TABLE a RENAME TO sweeps", "table sweeps)"],
  [
    "ALTER TABLE sessions RENAME body TO a",
    "ALTER TABLE sessions RENAME a TO body",
    "column sessions.body text COLLATE C)",
  ],
  [
    "DELETE FROM token_changes",
    "INSERT INTO token_changes (version) VALUES (7)",
    "row of token_changes)",
  ],
  [
    "ALTER TABLE schema_migrations RENAME TO a",
    "ALTER TABLE a RENAME TO schema_migrations",
    "table schema_migrations)",
  ],
];

const KEY_OF_TEXTS = "FOREIGN KEY (document_id) REFERENCES documents(id)";

const NOTED = "CREATE TRIGGER note_token_change AFTER INSERT";

/**
 * What is done to a schema, and what is said to be missing. What is said to bring it back does, and
 * is as named.
 */
const DAMAGE: readonly (readonly [string, string, ...string[]])[] = [
  [
    "ALTER TABLE memories DROP CONSTRAINT memories_key",
    "unique index memories_key on memories (document_id, key))",
    "ALTER TABLE memories DROP CONSTRAINT IF EXISTS memories_key, " +
      "ADD CONSTRAINT memories_key UNIQUE (document_id, key)",
  ],
  [
    "ALTER TABLE metadata DROP CONSTRAINT metadata_pkey, ADD PRIMARY KEY (document_id, key) DEFERRABLE",
    "unique index metadata_pkey on metadata (document_id, key))",
  ],
  [
    "DROP INDEX memories_by_id; CREATE INDEX memories_by_id ON memories (memory_id) WHERE key <> ''",
    "index memories_by_id on memories (memory_id))",
    "DROP INDEX IF EXISTS memories_by_id; CREATE INDEX memories_by_id ON memories (memory_id)",
  ],
  [
    "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memories_by_id'::regclass",
    "valid index memories_by_id)",
    "REINDEX INDEX memories_by_id",
  ],
  [
    "ALTER TABLE sessions SET UNLOGGED",
    "logged table sessions)",
    "ALTER TABLE sessions SET LOGGED",
  ],
  ["ALTER TABLE memories ALTER row_id DROP IDENTITY", "identity of memories.row_id)"],
  [
    "ALTER TABLE owners ALTER version DROP DEFAULT",
    "default 0 of owners.version)",
    "ALTER TABLE owners ALTER version SET DEFAULT 0",
  ],
  ["ALTER TABLE owners ALTER version SET DEFAULT 7", "default 0 of owners.version)"],
  [
    "INSERT INTO documents (id, owner, name, created_at, updated_at) VALUES (99, 'a', 'b', 1, 1)",
    "sequence of documents.id)",
    "SELECT setval(pg_get_serial_sequence('documents', 'id'), max(id)) FROM documents",
  ],
  ["ALTER SEQUENCE documents_id_seq RESTART", "sequence of documents.id)"],
  [
    "ALTER FUNCTION note_token_change SET search_path = pg_catalog",
    "search_path of note_token_change)",
    "ALTER FUNCTION note_token_change SET search_path FROM CURRENT",
  ],
  ["ALTER FUNCTION note_token_change RESET search_path", "search_path of note_token_change)"],
  [
    `CREATE SCHEMA others; CREATE TABLE others.token_changes (version int);
      ALTER FUNCTION note_token_change SET search_path = others, public`,
    "search_path of note_token_change)",
  ],
  [
    "ALTER TABLE owners ALTER version DROP NOT NULL",
    "NOT NULL of owners.version)",
    "ALTER TABLE owners ALTER version SET NOT NULL",
  ],
  [
    "ALTER TABLE texts DROP CONSTRAINT texts_document_id_fkey",
    `constraint texts_document_id_fkey of texts ${KEY_OF_TEXTS})`,
    "ALTER TABLE texts DROP CONSTRAINT IF EXISTS texts_document_id_fkey, " +
      `ADD CONSTRAINT texts_document_id_fkey ${KEY_OF_TEXTS}`,
  ],
  [
    `ALTER TABLE texts DROP CONSTRAINT texts_document_id_fkey,
      ADD CONSTRAINT texts_document_id_fkey ${KEY_OF_TEXTS} NOT VALID`,
    "valid constraint texts_document_id_fkey)",
    "ALTER TABLE texts VALIDATE CONSTRAINT texts_document_id_fkey",
  ],
  [
    `ALTER TABLE changed_tokens DROP CONSTRAINT changed_tokens_account_id_fkey, ADD CONSTRAINT
      changed_tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts`,
    "constraint changed_tokens_account_id_fkey of changed_tokens FOREIGN KEY (account_id) " +
      "REFERENCES accounts(id) ON DELETE CASCADE)",
  ],
  [
    "ALTER TABLE texts DISABLE TRIGGER ALL",
    "enabled constraint texts_document_id_fkey on texts)",
    "ALTER TABLE texts ENABLE TRIGGER ALL",
  ],
  [
    "ALTER TABLE accounts DISABLE TRIGGER ALL",
    "enabled constraint users_account_id_fkey on accounts, ",
    "ALTER TABLE accounts ENABLE TRIGGER ALL",
  ],
  [
    "ALTER TABLE long_metadata NO INHERIT metadata",
    "inheritance of long_metadata from metadata)",
    "ALTER TABLE long_metadata INHERIT metadata",
  ],
  [
    "DROP TRIGGER note_token_change ON tokens",
    "trigger note_token_change AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON tokens ",
  ],
  [
    `DROP TRIGGER note_token_change ON tokens; ${NOTED} ON tokens EXECUTE FUNCTION note_token_change()`,
    "trigger note_token_change AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON tokens ",
  ],
  [
    `CREATE OR REPLACE TRIGGER put_long_metadata BEFORE INSERT ON metadata
      FOR EACH ROW WHEN (false) EXECUTE FUNCTION put_long_metadata()`,
    "trigger put_long_metadata BEFORE INSERT ON metadata FOR EACH ROW WHEN ",
  ],
  [
    "ALTER TABLE tokens DISABLE TRIGGER note_token_change",
    "enabled trigger note_token_change on tokens)",
    "ALTER TABLE tokens ENABLE TRIGGER note_token_change",
  ],
  [
    "CREATE OR REPLACE FUNCTION note_token_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
    "function note_token_change with the body ",
  ],
  ["DROP FUNCTION note_removed_user CASCADE", "function note_removed_user with the body "],
  [
    "DELETE FROM schema_migrations WHERE name ~ 'database-oid'",
    "row replica-0002-database-oid of schema_migrations)",
    "INSERT INTO schema_migrations VALUES ('replica-0002-database-oid', false)",
  ],
];

test("a step of a newer program is refused where it breaks, and let be where it only adds", async () => {
  const { address } = await newDatabase();
  await using host = await openReady(address);
  await runOnPostgres(address, "INSERT INTO schema_migrations VALUES ('replica-9998-adds', false)");
  expect(await refusal(address)).toBe("it was opened");
  await runOnPostgres(
    address,
    "INSERT INTO schema_migrations VALUES ('replica-9999-breaks', true)",
    "ALTER TABLE sessions RENAME TO newer_sessions",
  );
  const said =
    'changed by a newer memsync (it holds the step "replica-9999-breaks"): update memsync';
  expect(await refusal(address)).toContain(said);
  // So it is for a server that runs, when somebody has forgotten to end it.
  await waitFor("a look", async () => (await host.status()) === 503);
  expect(host.reasons).toEqual([expect.stringContaining(said)]);
});

test("rows that are hidden from the user are not told as gone", async () => {
  const { address } = await newDatabase();
  await using _ = await openReady(address);
  const role = `reader_${new URL(address).pathname.slice(1)}`;
  await runOnPostgres(
    address,
    `CREATE ROLE ${role} LOGIN PASSWORD 'reader'`,
    `GRANT ALL ON SCHEMA public TO ${role}`,
    `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`,
    `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  const reader = Object.assign(new URL(address), { username: role, password: "reader" });
  await tellsOfHiddenRows(address, `${reader}`);
  await runOnPostgres(address, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
});

/** `reader`: the address of a user who owns no table. */
async function tellsOfHiddenRows(address: string, reader: string): Promise<void> {
  await using host = await openReady(reader);
  expect(await host.status()).toBe(200);
  for (const table of ["memories", "tokens", "schema_migrations"]) {
    await runOnPostgres(address, `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
    await waitFor("a look", async () => (await host.status()) === 503);
    const said =
      `row level security hides rows of ${table} from the database's user: ` +
      "`ALTER TABLE … DISABLE ROW LEVEL SECURITY` on each, or `ALTER ROLE … BYPASSRLS`";
    expect(host.reasons.at(-1)).toBe(said);
    expect(await refusal(reader)).toBe(said);
    // The tables' owner sees all rows.
    expect(await refusal(address)).toBe("it was opened");
    await runOnPostgres(address, `ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`);
    await waitFor("a server that is ready again", async () => (await host.status()) === 200);
  }
}
