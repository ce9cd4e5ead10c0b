import { type Kysely, sql } from "kysely";
import type { Migration } from "../../shared/sqlite/migrate.ts";

/** Sentences that were stored exactly like this, and the codes that replace them. */
const CODES: readonly (readonly [sentence: string, code: string])[] = [
  [
    "the token may not write it, or does not reach it: give `memsync login`, or MEMSYNC_TOKEN, " +
      "one that may",
    "token-forbids",
  ],
  ["the service's update builds on what is not held here", "update-gap"],
  ["what it holds is too large, or no text, and stays there as it is", "untakable"],
  ["its deletion can't be sent: the service gives no id for it", "no-id"],
  ["the document is over 11534336 bytes: delete something first", "no-room"],
  ["is over 1048576 bytes: make it shorter", "too-large"],
  ["holds a NUL character: take it out", "has-nul"],
];

/** Beginnings of sentences that end in a service's words, and the codes that replace them. */
const BEGINNINGS: readonly (readonly [beginning: string, code: string])[] = [
  ["the service's update is not acceptable: ", "update-unacceptable"],
  ["its deletion is refused: ", "deletion-refused"],
  ["refused by the service: ", "service-refused"],
];

/**
 * Turns stored reasons into codes, and the kind of a write into one word. A sentence that no
 * version wrote stays as the words of an unknown reason.
 */
export const codesMigration: Migration = {
  name: "daemon-reasons-as-codes",
  async up(db) {
    await toCodes(db, "sync_positions", { column: "refused", otherwise: "service-refused" });
    await toCodes(db, "plain_refused", { column: "reason", otherwise: "service-refused" });
    await toCodes(db, "held", { column: "reason", otherwise: "told-before" });
    await sql`update inbox set kind = 'text-conflict' where kind = 'text conflict'`.execute(db);
  },
};

async function toCodes<Tables>(
  db: Kysely<Tables>,
  table: string,
  { column, otherwise }: { readonly column: string; readonly otherwise: string },
): Promise<void> {
  const text = sql.ref(column);
  const known = CODES.map(([sentence, code]) => {
    return sql`when ${text} = ${sentence} then json_object('code', ${code})`;
  });
  const said = BEGINNINGS.map(([beginning, code]) => {
    const { length } = beginning;
    const words = sql`substr(${text}, ${length + 1})`;
    return sql`when substr(${text}, 1, ${length}) = ${beginning}
      then json_object('code', ${code}, 'said', ${words})`;
  });
  const cases = sql.join([...known, ...said], sql` `);
  await sql`update ${sql.table(table)} set ${text} = case ${cases}
    else json_object('code', ${otherwise}, 'said', ${text}) end
    where ${text} is not null`.execute(db);
}
