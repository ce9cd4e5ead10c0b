import type { PostgresMigration } from "../../shared/postgres/migrate.ts";
import { replicaOnPostgres } from "../../shared/replica/postgres/replica-schema.ts";

const TEXT = `text COLLATE "C"`;

/** What the services and a host keep besides, with SQLite's names and columns. */
const hostOnPostgres: readonly PostgresMigration[] = [
  {
    name: "host-0001-baseline",
    breaks: true,
    statements: [
      `CREATE TABLE sessions (
        account ${TEXT} NOT NULL, id ${TEXT} NOT NULL, project_id ${TEXT},
        started_at bigint NOT NULL, last_activity_at bigint NOT NULL, body ${TEXT} NOT NULL,
        PRIMARY KEY (account, id))`,
      "CREATE INDEX sessions_by_activity ON sessions (account, last_activity_at, id)",
      `CREATE TABLE connections (
        account ${TEXT} NOT NULL, project_a ${TEXT} NOT NULL, project_b ${TEXT} NOT NULL,
        created_at bigint NOT NULL, PRIMARY KEY (account, project_a, project_b))`,
      `CREATE TABLE current_projects (
        token_id ${TEXT} PRIMARY KEY, account ${TEXT} NOT NULL, project_id ${TEXT} NOT NULL)
        WITH (fillfactor = 80)`,
      "CREATE INDEX current_projects_by_account ON current_projects (account)",
      `CREATE TABLE kept_answers (
        account ${TEXT} NOT NULL, who ${TEXT} NOT NULL, path ${TEXT} NOT NULL, key ${TEXT} NOT NULL,
        body_hash ${TEXT} NOT NULL, answer ${TEXT} NOT NULL, created_at bigint NOT NULL,
        PRIMARY KEY (account, who, path, key))`,
      "CREATE INDEX kept_answers_by_age ON kept_answers (created_at)",
      `CREATE TABLE accounts (
        id ${TEXT} PRIMARY KEY, name ${TEXT} NOT NULL UNIQUE, plan ${TEXT} NOT NULL,
        created_at bigint NOT NULL)`,
      `CREATE TABLE users (
        id ${TEXT} PRIMARY KEY, account_id ${TEXT} NOT NULL REFERENCES accounts,
        name ${TEXT} NOT NULL, created_at bigint NOT NULL,
        CONSTRAINT users_name UNIQUE (account_id, name))`,
      `CREATE TABLE tokens (
        id ${TEXT} PRIMARY KEY, hash ${TEXT} NOT NULL UNIQUE,
        user_id ${TEXT} NOT NULL REFERENCES users, name ${TEXT} NOT NULL, scope ${TEXT} NOT NULL,
        projects ${TEXT}, created_at bigint NOT NULL, expires_at bigint, last_used_at bigint,
        revoked_at bigint) WITH (fillfactor = 80)`,
      "CREATE INDEX tokens_by_user ON tokens (user_id)",
      `CREATE TABLE request_counts (
        account ${TEXT} PRIMARY KEY, minute ${TEXT} NOT NULL, day bigint NOT NULL,
        in_day bigint NOT NULL) WITH (fillfactor = 50)`,
      "CREATE INDEX request_counts_by_day ON request_counts (day)",
      `CREATE TABLE removed_tokens (id ${TEXT} PRIMARY KEY, removed_at bigint NOT NULL)`,
    ],
  },
  {
    name: "host-0002-token-changes",
    breaks: false,
    statements: [
      `CREATE TABLE token_changes (
        one boolean PRIMARY KEY DEFAULT true CHECK (one), version bigint NOT NULL)`,
      "INSERT INTO token_changes (version) VALUES (0)",
      `CREATE FUNCTION note_token_change() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$
        BEGIN
          UPDATE token_changes SET version = version + 1;
          RETURN NULL;
        END $$`,
      `CREATE TRIGGER note_token_change
        AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON tokens
        FOR EACH STATEMENT EXECUTE FUNCTION note_token_change()`,
    ],
  },
  {
    name: "host-0003-changed-tokens",
    breaks: false,
    statements: [
      `CREATE TABLE changed_tokens (
        account_id ${TEXT} PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
        version bigint NOT NULL) WITH (fillfactor = 80)`,
      "CREATE INDEX changed_tokens_by_version ON changed_tokens (version)",
      // The version that the statement's own trigger makes after it. Whoever changes another
      // account's tokens at the same time waits, or would note the same version and commit later.
      `CREATE FUNCTION note_changed_token() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$
        DECLARE following bigint;
        BEGIN
          SELECT version + 1 INTO following FROM token_changes FOR UPDATE;
          INSERT INTO changed_tokens (account_id, version)
            SELECT account_id, following FROM users
            WHERE users.id = coalesce(NEW.user_id, OLD.user_id)
            ON CONFLICT (account_id) DO UPDATE SET version = excluded.version;
          RETURN NULL;
        END $$`,
      `CREATE TRIGGER note_changed_token
        AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON tokens
        FOR EACH ROW EXECUTE FUNCTION note_changed_token()`,
    ],
  },
  {
    name: "host-0004-removed-users",
    breaks: false,
    statements: [
      `CREATE FUNCTION note_removed_user() RETURNS trigger LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$
        DECLARE following bigint;
        BEGIN
          UPDATE token_changes SET version = version + 1 RETURNING version INTO following;
          INSERT INTO changed_tokens (account_id, version) VALUES (OLD.account_id, following)
            ON CONFLICT (account_id) DO UPDATE SET version = excluded.version;
          RETURN NULL;
        END $$`,
      `CREATE TRIGGER note_removed_user
        AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION note_removed_user()`,
    ],
  },
];

/** All steps of a host's database on PostgreSQL, in order. */
export const hostMigrationsOnPostgres: readonly PostgresMigration[] = [
  ...replicaOnPostgres,
  ...hostOnPostgres,
];
