import { messageOf } from "../errors.ts";
import { prepareRows, type SqliteConnection } from "./connection.ts";
import { isDamage } from "./failures.ts";

/**
 * The first problem of a database's pages; undefined if all are sound. `quick` does not compare
 * indices with their tables. Both read the whole file. Throws errors that are not the file's fault,
 * because they must never count as damage.
 */
export function findDamagedPage(
  connection: SqliteConnection,
  depth: "quick" | "whole",
): string | undefined {
  try {
    const pragma = depth === "quick" ? "quick_check" : "integrity_check";
    const sql = `PRAGMA ${pragma}(1)`;
    const [row] = prepareRows<Record<string, string>>(connection, sql).all([]);
    const said = row?.[pragma] ?? "no answer";
    return said === "ok" ? undefined : said.replace(/^\*+[^*]*\*+\s*/, "").replace(/\s+/g, " ");
  } catch (thrown) {
    // A file that is busy or unreadable for the moment is not damaged.
    if (isDamage(thrown)) return messageOf(thrown);
    throw thrown;
  }
}
