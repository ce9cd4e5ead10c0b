import type { Migration } from "../../shared/sqlite/migrate.ts";

/** The tables of services without the replica exchange. */
export const plainMigrations: readonly Migration[] = [
  {
    name: "daemon-plain-services",
    async up(db) {
      await db.schema
        .createTable("plain_documents")
        .addColumn("document_id", "integer", (column) =>
          column.primaryKey().references("documents.id"),
        )
        .addColumn("text", "text", (column) => column.notNull())
        .addColumn("sent", "text", (column) => column.notNull())
        .addColumn("outstanding", "integer", (column) => column.notNull())
        .addColumn("lost_at", "integer")
        .addColumn("blank_since", "integer")
        .execute();
      await db.schema
        .createTable("plain_items")
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text", (column) => column.notNull())
        .addColumn("memory_id", "text")
        .addColumn("created_at", "text")
        .addColumn("seen", "integer", (column) => column.notNull())
        .addPrimaryKeyConstraint("plain_items_key", ["document_id", "kind", "key"])
        .execute();
      await db.schema
        .createTable("plain_journal")
        .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("content", "text")
        .addColumn("memory_id", "text")
        .execute();
      await db.schema
        .createTable("plain_refused")
        .addColumn("document_id", "integer", (column) =>
          column.notNull().references("documents.id"),
        )
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("hash", "text", (column) => column.notNull())
        .addColumn("reason", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("plain_refused_key", ["document_id", "kind", "key"])
        .execute();
    },
  },
  {
    name: "daemon-plain-missing",
    async up(db) {
      await db.schema
        .alterTable("plain_documents")
        .addColumn("missing", "integer", (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
];
