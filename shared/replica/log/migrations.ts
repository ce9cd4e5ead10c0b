import { sql } from "kysely";
import type { Migration } from "../../sqlite/migrate.ts";

const PLAIN_LETTERS = [
  ["ß", "ss"],
  ["ẞ", "ss"],
  ["æ", "ae"],
  ["Æ", "ae"],
  ["ǣ", "ae"],
  ["Ǣ", "ae"],
  ["ǽ", "ae"],
  ["Ǽ", "ae"],
  ["œ", "oe"],
  ["Œ", "oe"],
  ["ø", "o"],
  ["Ø", "o"],
  ["ǿ", "o"],
  ["Ǿ", "o"],
  ["đ", "d"],
  ["Đ", "d"],
  ["ð", "d"],
  ["Ð", "d"],
  ["ł", "l"],
  ["Ł", "l"],
  ["ħ", "h"],
  ["Ħ", "h"],
  ["ŧ", "t"],
  ["Ŧ", "t"],
  ["ı", "i"],
  ["þ", "th"],
  ["Þ", "th"],
] as const;

/** The replica's schema, in the order in which it grew. */
export const replicaMigrations: readonly Migration[] = [
  {
    name: "replica-0001-documents",
    async up(db) {
      await db.schema
        .createTable("documents")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("owner", "text", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("seq", "integer", (column) => column.notNull().defaultTo(0))
        .addColumn("created_at", "integer", (column) => column.notNull())
        .addColumn("updated_at", "integer", (column) => column.notNull())
        .addColumn("last_synced_at", "integer")
        .addColumn("sync_count", "integer", (column) => column.notNull().defaultTo(0))
        .addUniqueConstraint("documents_address", ["owner", "name"])
        .execute();
      await db.schema
        .createTable("updates")
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("seq", "integer", (column) => column.notNull())
        .addColumn("epoch", "text", (column) => column.notNull())
        .addColumn("origin", "text", (column) => column.notNull())
        .addColumn("payload", "blob", (column) => column.notNull())
        .addColumn("checksum", "integer", (column) => column.notNull())
        .addColumn("committed_at", "integer", (column) => column.notNull())
        .addPrimaryKeyConstraint("updates_position", ["document_id", "seq"])
        .execute();
      await db.schema
        .createTable("snapshots")
        .addColumn("document_id", "integer", (column) =>
          column.primaryKey().references("documents.id"),
        )
        .addColumn("seq", "integer", (column) => column.notNull())
        .addColumn("payload", "blob", (column) => column.notNull())
        .addColumn("checksum", "integer", (column) => column.notNull())
        .addColumn("created_at", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("epochs")
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("first_seq", "integer", (column) => column.notNull())
        .addColumn("epoch", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("epochs_position", ["document_id", "first_seq"])
        .execute();
    },
  },
  {
    name: "replica-0002-rows",
    async up(db) {
      await db.schema
        .createTable("texts")
        .addColumn("document_id", "integer", (column) =>
          column.primaryKey().references("documents.id"),
        )
        .addColumn("content", "text", (column) => column.notNull())
        .addColumn("updated_at", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("memories")
        .addColumn("row_id", "integer", (column) => column.primaryKey())
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("memory_id", "text", (column) => column.notNull())
        .addColumn("value", "text", (column) => column.notNull())
        .addColumn("created_at", "integer", (column) => column.notNull())
        .addColumn("updated_at", "integer", (column) => column.notNull())
        .addColumn("entry_ids", "text", (column) => column.notNull())
        .addUniqueConstraint("memories_key", ["document_id", "key"])
        .execute();
      await db.schema
        .createIndex("memories_by_creation")
        .on("memories")
        .columns(["document_id", "created_at", "key"])
        .execute();
      await db.schema.createIndex("memories_by_id").on("memories").column("memory_id").execute();
      await db.schema
        .createTable("metadata")
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("metadata_key", ["document_id", "key"])
        .execute();
      await db.schema
        .createTable("revisions")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text", (column) => column.notNull())
        .addColumn("written_at", "integer", (column) => column.notNull())
        .addColumn("replaced_at", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("revisions_by_key")
        .on("revisions")
        .columns(["document_id", "kind", "key", "id"])
        .execute();
      await db.schema
        .createTable("text_conflicts")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("mine", "text", (column) => column.notNull())
        .addColumn("theirs", "text", (column) => column.notNull())
        .addColumn("found_at", "integer", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "replica-0003-full-text",
    async up(db) {
      await sql`
        create virtual table memories_text using fts5(
          key, value, content='memories', content_rowid='row_id', tokenize='unicode61'
        )`.execute(db);
      await sql`
        create trigger memories_text_insert after insert on memories begin
          insert into memories_text (rowid, key, value) values (new.row_id, new.key, new.value);
        end`.execute(db);
      await sql`
        create trigger memories_text_delete after delete on memories begin
          insert into memories_text (memories_text, rowid, key, value)
            values ('delete', old.row_id, old.key, old.value);
        end`.execute(db);
      await sql`
        create trigger memories_text_update after update of key, value on memories begin
          insert into memories_text (memories_text, rowid, key, value)
            values ('delete', old.row_id, old.key, old.value);
          insert into memories_text (rowid, key, value) values (new.row_id, new.key, new.value);
        end`.execute(db);
    },
  },
  {
    name: "replica-0004-history",
    async up(db) {
      await db.schema.alterTable("revisions").addColumn("machine", "text").execute();
      await db.schema.alterTable("texts").addColumn("machine", "text").execute();
      await db.schema
        .createIndex("revisions_by_age")
        .on("revisions")
        .column("replaced_at")
        .execute();
    },
  },
  {
    name: "replica-0005-compressed",
    async up(db) {
      await db.schema.alterTable("snapshots").addColumn("bytes", "integer").execute();
      await db.schema
        .createTable("revision_packs")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("count", "integer", (column) => column.notNull())
        .addColumn("oldest_at", "integer", (column) => column.notNull())
        .addColumn("bytes", "integer", (column) => column.notNull())
        .addColumn("payload", "blob", (column) => column.notNull())
        .addColumn("checksum", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("revision_packs_by_key")
        .on("revision_packs")
        .columns(["document_id", "kind", "key"])
        .execute();
      await db.schema
        .createIndex("revision_packs_by_age")
        .on("revision_packs")
        .column("oldest_at")
        .execute();
    },
  },
  {
    // The program writes the index itself, once for each commit.
    name: "replica-0006-full-text-by-commit",
    async up(db) {
      for (const event of ["insert", "delete", "update"]) {
        await sql`drop trigger if exists ${sql.id(`memories_text_${event}`)}`.execute(db);
      }
    },
  },
  {
    name: "replica-0007-history-clock",
    async up(db) {
      await db.schema
        .createTable("history_clock")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("trusted_at", "integer", (column) => column.notNull())
        .addColumn("doubted_at", "integer")
        .addColumn("last_revision", "integer", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "replica-0008-removed-text",
    async up(db) {
      await db.schema.alterTable("updates").addColumn("removed", "text").execute();
    },
  },
  {
    // The index before left accents on letters that have two.
    name: "replica-0009-full-text-accents",
    async up(db) {
      await sql`drop table memories_text`.execute(db);
      await sql`
        create virtual table memories_text using fts5(
          key, value, content='memories', content_rowid='row_id',
          tokenize='unicode61 remove_diacritics 2'
        )`.execute(db);
      await sql`insert into memories_text (memories_text) values ('rebuild')`.execute(db);
    },
  },
  {
    // Lists go by creation and then by row, which ends each entry of an index anyway.
    name: "replica-0010-memories-in-order",
    async up(db) {
      await db.schema.dropIndex("memories_by_creation").execute();
      await db.schema
        .createIndex("memories_by_creation")
        .on("memories")
        .columns(["document_id", "created_at"])
        .execute();
    },
  },
  {
    // The index may follow the rows later, and has to be told what it contains of them.
    name: "replica-0011-unindexed",
    async up(db) {
      await db.schema
        .createTable("unindexed")
        .addColumn("row_id", "integer", (column) => column.primaryKey())
        .addColumn("document_id", "integer", (column) => column.notNull())
        .addColumn("key", "text")
        .addColumn("value", "text")
        .execute();
    },
  },
  {
    // The index before had letters as they stand that are two, or have a stroke; see `letters.ts`.
    name: "replica-0012-full-text-letters",
    async up(db) {
      await sql`drop table memories_text`.execute(db);
      await sql`
        create virtual table memories_text using fts5(
          key, value, content='memories', content_rowid='row_id',
          tokenize='unicode61 remove_diacritics 2'
        )`.execute(db);
      await sql`delete from unindexed`.execute(db);
      const plain = (column: string) =>
        PLAIN_LETTERS.reduce(
          (text, [letter, plainer]) => sql`replace(${text}, ${letter}, ${plainer})`,
          sql.ref<unknown>(column),
        );
      await sql`
        insert into memories_text (rowid, key, value)
        select row_id, ${plain("key")}, ${plain("value")} from memories
        order by row_id`.execute(db);
    },
  },
  {
    // A revision's place among those of its key may follow later.
    name: "replica-0013-unfiled",
    async up(db) {
      await db.schema
        .createTable("unfiled")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("document_id", "integer", (column) => column.notNull())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text", (column) => column.notNull())
        .addColumn("written_at", "integer", (column) => column.notNull())
        .addColumn("replaced_at", "integer", (column) => column.notNull())
        .addColumn("machine", "text")
        .execute();
    },
  },
  {
    // The program says what a word is, by `words.ts`. The index before had its own rules, and is
    // empty now: what is noted as unindexed comes into it before anybody searches.
    name: "replica-0014-words-of-memories",
    async up(db) {
      await sql`drop table memories_text`.execute(db);
      await sql`
        create virtual table memories_text using fts5(key, value, content='', tokenize='ascii')
      `.execute(db);
      await sql`delete from unindexed`.execute(db);
      await sql`
        insert into unindexed (row_id, document_id) select row_id, document_id from memories
      `.execute(db);
    },
  },
];
