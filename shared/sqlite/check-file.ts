import { messageOf } from "../errors.ts";
import type { SqliteConnection } from "./connection.ts";

/**
 * The first thing that is wrong with a database's pages; undefined when all of them are sound.
 * `quick` leaves out whether indices say the same as their tables. Both read the whole file.
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
    return messageOf(thrown);
  }
}
