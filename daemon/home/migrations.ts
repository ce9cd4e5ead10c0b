import { sql } from "kysely";
import { replicaMigrations } from "../../shared/replica/log/migrations.ts";
import type { Migration } from "../../shared/sqlite/migrate.ts";
import type { Schema } from "../../shared/sqlite/misfit.ts";
import { codesMigration } from "./codes-migration.ts";
import { heldApartMigration } from "./held-migration.ts";
import { lettersMigration, personalMigration, privateMigration } from "./personal-migration.ts";
import { plainMigrations } from "./plain-migrations.ts";
import { serviceMigrations } from "./service-schema.ts";

const ownMigrations: readonly Migration[] = [
  {
    name: "daemon-0001-links-and-positions",
    async up(db) {
      await db.schema
        .createTable("links")
        .addColumn("dir", "text", (column) => column.primaryKey())
        .addColumn("project_id", "text", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("write", "integer", (column) => column.notNull())
        .addColumn("linked_at", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("sync_positions")
        .addColumn("service", "text", (column) => column.notNull())
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("epoch", "text", (column) => column.notNull())
        .addColumn("seq", "integer", (column) => column.notNull())
        .addColumn("acked_seq", "integer", (column) => column.notNull())
        .addColumn("refused", "text")
        .addPrimaryKeyConstraint("sync_positions_document", ["service", "document_id"])
        .execute();
      await db.schema
        .createTable("followed_files")
        .addColumn("dir", "text", (column) => column.primaryKey())
        .addColumn("path", "text", (column) => column.notNull())
        .addColumn("hash", "text", (column) => column.notNull())
        .addColumn("base", "text", (column) => column.notNull())
        .addColumn("form", "text", (column) => column.notNull())
        .addColumn("next_hash", "text")
        .addColumn("next_base", "text")
        .addColumn("next_form", "text")
        .execute();
      await db.schema
        .createTable("file_versions")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("dir", "text", (column) => column.notNull())
        .addColumn("hash", "text", (column) => column.notNull())
        .addColumn("base", "text", (column) => column.notNull())
        .addColumn("form", "text", (column) => column.notNull())
        .addColumn("replaced_at", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("inbox")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("document", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text")
        .addColumn("seen", "text", (column) => column.notNull())
        .addColumn("written_at", "integer", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "daemon-0002-inbox-kinds",
    async up(db) {
      await db.schema
        .alterTable("inbox")
        .addColumn("kind", "text", (column) => column.notNull().defaultTo("memory"))
        .execute();
      await db.schema.alterTable("inbox").addColumn("base", "text").execute();
    },
  },
  {
    name: "daemon-0003-salvaged-memories",
    async up(db) {
      await db.schema
        .createTable("salvaged_memories")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("account", "text", (column) => column.notNull())
        .addColumn("document", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text", (column) => column.notNull())
        .addColumn("client", "integer", (column) => column.notNull())
        .addColumn("clock", "integer", (column) => column.notNull())
        .addColumn("updated_at", "integer", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "daemon-0004-request-budgets",
    async up(db) {
      await db.schema
        .createTable("request_budgets")
        .addColumn("account", "text", (column) => column.primaryKey())
        .addColumn("record", "text", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "daemon-held-writes",
    async up(db) {
      await db.schema
        .createTable("held")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("account", "text", (column) => column.notNull())
        .addColumn("document", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text")
        .addColumn("base", "text")
        .addColumn("seen", "text", (column) => column.notNull())
        .addColumn("cause", "text", (column) => column.notNull())
        .addColumn("reason", "text", (column) => column.notNull())
        .addColumn("hash", "text")
        .addColumn("turn", "integer")
        .addColumn("shown", "integer", (column) => column.notNull().defaultTo(1))
        .addColumn("allowed", "integer", (column) => column.notNull().defaultTo(0))
        .addColumn("written_at", "integer", (column) => column.notNull())
        .addUniqueConstraint("held_place", ["account", "document", "kind", "key"])
        .execute();
      await db.schema
        .createTable("allowed_secrets")
        .addColumn("hash", "text", (column) => column.primaryKey())
        .addColumn("allowed_at", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .alterTable("inbox")
        .addColumn("allow_secret", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
  {
    name: "daemon-remotes",
    async up(db) {
      await db.schema
        .createTable("remotes")
        .addColumn("name", "text", (column) => column.primaryKey())
        .addColumn("url", "text")
        .addColumn("account", "text", (column) => column.notNull().unique())
        .addColumn("token_place", "text")
        .addColumn("is_default", "integer", (column) => column.notNull())
        .addColumn("added_at", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .alterTable("inbox")
        .addColumn("account", "text", (column) => column.notNull().defaultTo("local"))
        .execute();
      // The last resort: no project is ever bound to two services.
      await sql`create unique index documents_bound_once on documents (name)
        where name >= 'proj_' and name < 'proj\`'`.execute(db);
    },
  },
  {
    name: "daemon-link-places",
    async up(db) {
      await db.schema
        .createTable("link_places")
        .addColumn("dir", "text", (column) => column.primaryKey())
        .addColumn("device", "text", (column) => column.notNull())
        .addColumn("inode", "text", (column) => column.notNull())
        .addColumn("born_at", "text", (column) => column.notNull())
        .addColumn("evidence", "text", (column) => column.notNull())
        .addColumn("derived_id", "text")
        .addColumn("root_commit", "text")
        .execute();
    },
  },
  {
    name: "daemon-file-decisions",
    async up(db) {
      const addTo = (column: string, type: "text" | "integer") =>
        db.schema.alterTable("followed_files").addColumn(column, type).execute();
      await addTo("commit_id", "text");
      await addTo("head", "text");
      await addTo("base_epoch", "text");
      await addTo("base_seq", "integer");
      await db.schema
        .alterTable("followed_files")
        .addColumn("is_gone", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema
        .createTable("file_arrivals")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("dir", "text", (column) => column.notNull())
        .addColumn("arrived_at", "integer", (column) => column.notNull())
        .addColumn("machine", "text")
        .addColumn("change", "text", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("saves")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("dir", "text", (column) => column.notNull())
        .addColumn("revision", "text", (column) => column.notNull())
        .addColumn("saved_at", "integer", (column) => column.notNull())
        .addColumn("kept_at", "integer", (column) => column.notNull())
        .addColumn("outcome", "text", (column) => column.notNull())
        .addColumn("conflicts", "text", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("saves_document")
        .on("saves")
        .columns(["document_id", "id"])
        .execute();
      // A change of the last minute then counts as seen.
      await db.schema.dropTable("file_versions").execute();
    },
  },
  {
    name: "daemon-links-of-folders",
    async up(db) {
      const addTo = (table: string, column: string) =>
        db.schema.alterTable(table).addColumn(column, "text").execute();
      await addTo("links", "file");
      await addTo("link_places", "change");
      await addTo("followed_files", "beside");
      await db.schema
        .createTable("former_links")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("dir", "text", (column) => column.notNull())
        .addColumn("project_id", "text", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("write", "integer", (column) => column.notNull())
        .addColumn("file", "text")
        .addColumn("device", "text", (column) => column.notNull())
        .addColumn("inode", "text", (column) => column.notNull())
        .addColumn("born_at", "text", (column) => column.notNull())
        .addColumn("evidence", "text", (column) => column.notNull())
        .addColumn("derived_id", "text")
        .addColumn("root_commit", "text")
        .addColumn("left_at", "integer", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "daemon-audiences",
    async up(db) {
      await db.schema
        .createTable("audiences")
        .addColumn("service", "text", (column) => column.notNull())
        .addColumn("account", "text", (column) => column.notNull())
        .addColumn("name", "text")
        .addColumn("plan", "text")
        .addColumn("users", "integer")
        .addColumn("heard_at", "integer")
        .addColumn("agreed_at", "integer")
        .addPrimaryKeyConstraint("audiences_remote", ["service", "account"])
        .execute();
    },
  },
  {
    name: "daemon-project-names",
    async up(db) {
      await db.schema
        .createTable("project_names")
        .addColumn("project_id", "text", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull())
        .execute();
      await sql`insert into project_names select project_id, min(name) from links
        group by project_id`.execute(db);
    },
  },
  {
    name: "daemon-unlinked-folders",
    async up(db) {
      await db.schema
        .createTable("unlinked_folders")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("dir", "text", (column) => column.notNull())
        .addColumn("device", "text", (column) => column.notNull())
        .addColumn("inode", "text", (column) => column.notNull())
        .addColumn("born_at", "text", (column) => column.notNull())
        .addColumn("project_id", "text", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("evidence", "text", (column) => column.notNull())
        .addColumn("unlinked_at", "integer", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "daemon-sessions",
    async up(db) {
      await db.schema
        .createTable("transcripts")
        .addColumn("path", "text", (column) => column.primaryKey())
        .addColumn("state", "text", (column) => column.notNull())
        .addColumn("cwd", "text")
        .addColumn("project_id", "text")
        .execute();
      await db.schema
        .createTable("sent_sessions")
        .addColumn("account", "text", (column) => column.notNull())
        .addColumn("id", "text", (column) => column.notNull())
        .addColumn("body", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("sent_sessions_id", ["account", "id"])
        .execute();
    },
  },
  {
    name: "daemon-users-of-tokens",
    async up(db) {
      await db.schema.alterTable("audiences").addColumn("token_user", "text").execute();
    },
  },
  {
    name: "daemon-kept-by-git",
    async up(db) {
      await db.schema.alterTable("followed_files").addColumn("kept", "text").execute();
    },
  },
  {
    name: "daemon-known-tokens",
    async up(db) {
      await db.schema.alterTable("audiences").addColumn("token", "text").execute();
    },
  },
  {
    name: "daemon-shown-by-git",
    async up(db) {
      for (const name of ["marked", "set_aside"])
        await db.schema.alterTable("followed_files").addColumn(name, "text").execute();
    },
  },
  {
    name: "daemon-memory-folders",
    async up(db) {
      await db.schema
        .createTable("memory_folders")
        .addColumn("path", "text", (column) => column.primaryKey())
        .addColumn("project_id", "text", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("memory_files")
        .addColumn("folder", "text", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("hash", "text", (column) => column.notNull())
        .addColumn("text", "text", (column) => column.notNull())
        .addColumn("seen", "text", (column) => column.notNull())
        .addColumn("held", "text")
        .addColumn("next", "text")
        .addColumn("asked", "text")
        .addColumn("settled", "text")
        .addColumn("arrived_at", "integer")
        .addPrimaryKeyConstraint("memory_files_place", ["folder", "name"])
        .execute();
    },
  },
  {
    name: "daemon-ignore-files",
    async up(db) {
      await db.schema
        .createTable("ignore_files")
        .addColumn("dir", "text", (column) => column.primaryKey())
        .addColumn("text", "text", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "daemon-followed-repository",
    async up(db) {
      await db.schema.alterTable("followed_files").addColumn("repository", "text").execute();
    },
  },
  {
    name: "daemon-also-files",
    async up(db) {
      await db.schema.alterTable("links").addColumn("also", "text").execute();
    },
  },
  personalMigration,
  {
    name: "daemon-described-folders",
    async up(db) {
      await db.schema
        .alterTable("memory_folders")
        .addColumn("kind", "text", (column) => column.notNull().defaultTo("auto-memory"))
        .execute();
      await db.schema.alterTable("memory_folders").addColumn("commit", "text").execute();
      await db.schema.alterTable("memory_files").addColumn("tracked", "text").execute();
      await db.schema
        .alterTable("memory_files")
        .addColumn("is_gits", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
  {
    name: "daemon-begun-personal",
    async up(db) {
      await db.schema.alterTable("personal_files").addColumn("begun", "text").execute();
    },
  },
  {
    name: "daemon-holding-conflicts",
    async up(db) {
      await db.schema.alterTable("followed_files").addColumn("holding", "text").execute();
    },
  },
  {
    name: "daemon-replaced-at",
    async up(db) {
      await db.schema.alterTable("followed_files").addColumn("saved_at", "real").execute();
    },
  },
  heldApartMigration,
  {
    name: "daemon-refused-sessions",
    async up(db) {
      await db.schema.alterTable("sent_sessions").addColumn("refused", "text").execute();
      // With one that was refused all of its call counted as sent. Those that a service has stay.
      await sql`delete from sent_sessions`.execute(db);
    },
  },
  {
    name: "daemon-head-entry",
    async up(db) {
      await db.schema.alterTable("followed_files").addColumn("head_entry", "text").execute();
    },
  },
  {
    name: "daemon-token-expiry",
    async up(db) {
      await db.schema.alterTable("audiences").addColumn("token_expires_at", "integer").execute();
    },
  },
  {
    name: "daemon-former-ignore-files",
    async up(db) {
      await db.schema
        .createTable("former_ignore_files")
        .addColumn("project_id", "text", (column) => column.notNull())
        .addColumn("dir", "text", (column) => column.notNull())
        .addColumn("text", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("former_ignore_files_place", ["project_id", "dir", "text"])
        .execute();
      await sql`insert into former_ignore_files (project_id, dir, text)
        select distinct unlinked_folders.project_id, ignore_files.dir, ignore_files.text
        from unlinked_folders join ignore_files on ignore_files.dir = unlinked_folders.dir
        where trim(ignore_files.text) != ''`.execute(db);
    },
  },
  {
    name: "daemon-linked-as",
    async up(db) {
      await db.schema.alterTable("followed_files").addColumn("linked_as", "text").execute();
    },
  },
  {
    // Conflicts are looked for after each commit, which read all memories of its document.
    name: "daemon-memories-with-rivals",
    async up(db) {
      await sql`create index memories_with_rivals on memories (document_id, row_id)
        where instr(entry_ids, '],[') > 0`.execute(db);
    },
  },
  {
    name: "daemon-link-target",
    async up(db) {
      await db.schema.alterTable("followed_files").addColumn("link_target", "text").execute();
    },
  },
  {
    name: "daemon-declined-joins",
    async up(db) {
      await db.schema
        .createTable("declined_joins")
        .addColumn("project_id", "text", (column) => column.notNull())
        .addColumn("repository", "text", (column) => column.notNull())
        .addColumn("joined_to", "text", (column) => column.notNull())
        .addColumn("joined_at", "integer", (column) => column.notNull())
        .addPrimaryKeyConstraint("declined_joins_join", ["project_id", "repository", "joined_to"])
        .execute();
    },
  },
  privateMigration,
];

/** All migrations of a home's database. */
export const daemonMigrations: readonly Migration[] = [
  ...replicaMigrations,
  ...serviceMigrations,
  ...ownMigrations,
  ...plainMigrations,
  codesMigration,
  lettersMigration,
];

/** The schema with the fingerprint by which a database of this version is recognised. */
export const daemonSchema: Schema = { migrations: daemonMigrations, fingerprint: 1_024_685_635 };
