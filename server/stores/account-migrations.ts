import type { Migration } from "../../shared/sqlite/migrate.ts";

/** The schema for accounts and tokens, oldest step first. Follows the services'. */
export const accountMigrations: readonly Migration[] = [
  {
    name: "host-0001-accounts-and-tokens",
    async up(db) {
      await db.schema
        .createTable("accounts")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull().unique())
        .addColumn("plan", "text", (column) => column.notNull())
        .addColumn("created_at", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("users")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("created_at", "integer", (column) => column.notNull())
        .addUniqueConstraint("users_name", ["account_id", "name"])
        .execute();
      await db.schema
        .createTable("tokens")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("hash", "text", (column) => column.notNull().unique())
        .addColumn("user_id", "text", (column) => column.notNull().references("users.id"))
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("scope", "text", (column) => column.notNull())
        .addColumn("projects", "text")
        .addColumn("created_at", "integer", (column) => column.notNull())
        .addColumn("expires_at", "integer")
        .addColumn("last_used_at", "integer")
        .addColumn("revoked_at", "integer")
        .execute();
    },
  },
  {
    name: "host-0002-request-counts",
    async up(db) {
      await db.schema
        .createTable("request_counts")
        .addColumn("account", "text", (column) => column.primaryKey())
        .addColumn("minute", "text", (column) => column.notNull())
        .addColumn("day", "integer", (column) => column.notNull())
        .addColumn("in_day", "integer", (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex("request_counts_by_day")
        .on("request_counts")
        .column("day")
        .execute();
    },
  },
  {
    name: "host-0003-removed-tokens",
    async up(db) {
      await db.schema
        .createTable("removed_tokens")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("removed_at", "integer", (column) => column.notNull())
        .execute();
    },
  },
];
