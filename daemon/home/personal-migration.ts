import type { Migration } from "../../shared/sqlite/migrate.ts";

/** The tables of the personal text; see `PersonalFilesTable`. */
export const personalMigration: Migration = {
  name: "daemon-personal-text",
  async up(db) {
    await db.schema
      .createTable("personal_files")
      .addColumn("assistant", "text", (column) => column.primaryKey())
      .addColumn("path", "text", (column) => column.notNull())
      .addColumn("header", "text", (column) => column.notNull())
      .addColumn("writes", "integer", (column) => column.notNull())
      .addColumn("is_made", "integer", (column) => column.notNull())
      .addColumn("account", "text")
      .addColumn("shown", "text")
      .addColumn("next", "text")
      .addColumn("held", "text")
      .addColumn("asked", "text")
      .addColumn("settled", "text")
      .addColumn("undone", "text", (column) => column.notNull())
      .addColumn("turned_on_at", "integer", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("personal_versions")
      .addColumn("number", "integer", (column) => column.primaryKey())
      .addColumn("id", "text", (column) => column.notNull().unique())
      .addColumn("value", "text", (column) => column.notNull())
      .addColumn("is_own", "integer", (column) => column.notNull())
      .execute();
  },
};
