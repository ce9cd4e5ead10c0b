import type { Migration } from "../../shared/sqlite/migrate.ts";

/** The services' schema, oldest step first. Follows the replica's. */
export const serviceMigrations: readonly Migration[] = [
  {
    name: "service-0001-sessions-and-connections",
    async up(db) {
      await db.schema
        .createTable("sessions")
        .addColumn("account", "text", (column) => column.notNull())
        .addColumn("id", "text", (column) => column.notNull())
        .addColumn("project_id", "text")
        .addColumn("started_at", "integer", (column) => column.notNull())
        .addColumn("last_activity_at", "integer", (column) => column.notNull())
        .addColumn("body", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("sessions_id", ["account", "id"])
        .execute();
      await db.schema
        .createIndex("sessions_by_activity")
        .on("sessions")
        .columns(["account", "last_activity_at", "id"])
        .execute();
      await db.schema
        .createTable("connections")
        .addColumn("account", "text", (column) => column.notNull())
        .addColumn("project_a", "text", (column) => column.notNull())
        .addColumn("project_b", "text", (column) => column.notNull())
        .addColumn("created_at", "integer", (column) => column.notNull())
        .addPrimaryKeyConstraint("connections_pair", ["account", "project_a", "project_b"])
        .execute();
      await db.schema
        .createTable("current_projects")
        .addColumn("token_id", "text", (column) => column.primaryKey())
        .addColumn("account", "text", (column) => column.notNull())
        .addColumn("project_id", "text", (column) => column.notNull())
        .execute();
    },
  },
  {
    name: "service-0002-kept-answers",
    async up(db) {
      await db.schema
        .createTable("kept_answers")
        .addColumn("account", "text", (column) => column.notNull())
        .addColumn("who", "text", (column) => column.notNull())
        .addColumn("path", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("body_hash", "text", (column) => column.notNull())
        .addColumn("answer", "text", (column) => column.notNull())
        .addColumn("created_at", "integer", (column) => column.notNull())
        .addPrimaryKeyConstraint("kept_answers_id", ["account", "who", "path", "key"])
        .execute();
      await db.schema
        .createIndex("kept_answers_by_age")
        .on("kept_answers")
        .column("created_at")
        .execute();
    },
  },
];
