import { sql } from "kysely";
import type { Migration } from "../../shared/sqlite/migrate.ts";

/** Of a file several texts can be held, each in a place of its own. */
export const heldApartMigration: Migration = {
  name: "daemon-held-apart",
  async up(db) {
    await db.schema.alterTable("held").renameTo("held_before").execute();
    await db.schema
      .createTable("held")
      .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("account", "text", (column) => column.notNull())
      .addColumn("document", "text", (column) => column.notNull())
      .addColumn("key", "text", (column) => column.notNull())
      .addColumn("apart", "text", (column) => column.notNull().defaultTo(""))
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
      .addUniqueConstraint("held_place", ["account", "document", "kind", "key", "apart"])
      .execute();
    const columns = sql.raw(
      "id, kind, account, document, key, value, base, seen, cause, reason, hash, turn, shown, allowed, written_at",
    );
    await sql`insert into held (${columns}) select ${columns} from held_before`.execute(db);
    await db.schema.dropTable("held_before").execute();
  },
};
