import { type Kysely, sql } from "kysely";
import { parseReason } from "../../shared/reasons.ts";
import type { Migration } from "../../shared/sqlite/migrate.ts";
import { hashesOf, ownTextsOf, personalAllowance } from "./personal-lines.ts";
import { PERSONAL_MARK } from "./personal-mark.ts";
import { formerLinesOf, isOnesOwn, lettersOf } from "./text-line.ts";

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

interface HeldRow {
  readonly document: string;
  readonly key: string;
  readonly value: string;
  readonly reason: string;
}

/**
 * What is one's own text is known by its lines for good, and not by what is held of it; what a
 * person takes has a column of its own. What was called secret is private: lines of one's own text
 * are no secrets, and are held and allowed as well.
 */
export const privateMigration: Migration = {
  name: "daemon-private-lines",
  async up(db) {
    await db.schema
      .createTable("personal_lines")
      .addColumn("hash", "text", (column) => column.primaryKey())
      .execute();
    await noteOwnTexts(db, await knownTexts(db));
    await db.schema.alterTable("personal_files").addColumn("takes", "text").execute();
    await db.schema.alterTable("personal_files").addColumn("target", "text").execute();
    await sql`update personal_files set takes = substr(settled, 6), settled = 'take'
      where settled like 'take %'`.execute(db);
    await db.schema.alterTable("allowed_secrets").renameTo("allowances").execute();
    await sql`update held set cause = 'private' where cause = 'secret'`.execute(db);
  },
};

/**
 * Lines are known by their letters alone. A hash cannot be made anew: what was noted, and stands
 * in no version that is kept, nor in what is held, goes on being known in its former form.
 */
export const lettersMigration: Migration = {
  name: "daemon-letters-of-lines",
  async up(db) {
    const own = await knownTexts(db);
    await noteOwnTexts(db, own);
    const { rows: allowed } = await sql<{ hash: string }>`select hash from allowances`.execute(db);
    const hashes = new Set(allowed.map(({ hash }) => hash));
    if (hashes.size === 0) return;
    const { rows: documents } = await sql<{ name: string }>`select name from documents
      union select document from held`.execute(db);
    const lines = [...new Set(own.flatMap((text) => text.split("\n").filter(isOnesOwn)))];
    for (const { name } of documents) {
      for (const line of lines) {
        const [former = ""] = formerLinesOf(line);
        if (!hashes.has(personalAllowance(name, former))) continue;
        await sql`insert or ignore into allowances (hash, allowed_at)
          select ${personalAllowance(name, lettersOf(line))}, allowed_at from allowances
          where hash = ${personalAllowance(name, former)}`.execute(db);
      }
    }
  },
};

/** What a home has of its personal text: the versions that are kept, and what is held of it. */
async function knownTexts(db: Kysely<unknown>): Promise<string[]> {
  const { rows: versions } = await sql<{ value: string }>`select value
    from personal_versions`.execute(db);
  const { rows: held } = await sql<HeldRow>`select document, key, value, reason from held
    where value is not null`.execute(db);
  return [
    ...versions.map(({ value }) => value.replace(PERSONAL_MARK, "")),
    ...held.flatMap((row) => ownTextsOf({ ...row, reason: parseReason(row.reason) })),
  ];
}

async function noteOwnTexts(db: Kysely<unknown>, own: readonly string[]): Promise<void> {
  for (const hash of new Set(own.flatMap(hashesOf))) {
    await sql`insert or ignore into personal_lines (hash) values (${hash})`.execute(db);
  }
}
