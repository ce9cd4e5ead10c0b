import { messageOf } from "../errors.ts";
import type { SqliteConnection } from "./connection.ts";
import { isDamage } from "./failures.ts";

/**
 * The first thing that is wrong with a database's pages; undefined when all of them are sound.
 * `quick` leaves out whether indices say the same as their tables. Both read the whole file. Throws
 * what is no fault of the file's, for that must never pass for damage.
 */
export function findDamagedPage(
  connection: SqliteConnection,
  depth: "quick" | "whole",
): string | undefined {
  try {
    const pragma = depth === "quick" ? "quick_check" : "integrity_check";
    const [row] = connection.prepare(`PRAGMA ${pragma}(1)`).all([]) as Record<string, string>[];
    const said = row?.[pragma] ?? "no answer";
    return said === "ok" ? undefined : said.replace(/^\*+[^*]*\*+\s*/, "").replace(/\s+/g, " ");
  } catch (thrown) {
    // A file that is busy, or can't be read now, is not a damaged one.
    if (isDamage(thrown)) return messageOf(thrown);
    throw thrown;
  }
}
