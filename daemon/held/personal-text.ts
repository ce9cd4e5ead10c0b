import type { Kysely } from "kysely";
import { notedAmong } from "../home/personal-lines.ts";
import { PERSONAL_KEY, PERSONAL_MARK } from "../home/personal-mark.ts";
import type { DaemonTables } from "../home/tables.ts";
import { bareLinesOf } from "../home/text-line.ts";

type Db = Kysely<DaemonTables>;

/**
 * Those of these lines, each as `bareLinesOf` has it, that are of one's own text: of any that this
 * home has had, by a version or between marks, or of the user's memory as it is now, which no look
 * has read yet where the text is in no file.
 */
export async function personalAmong(db: Db, lines: ReadonlySet<string>): Promise<Set<string>> {
  if (lines.size === 0) return new Set();
  const noted = await notedAmong(db, lines);
  const rows = await db
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .select("value")
    .where("memories.key", "=", PERSONAL_KEY)
    .where("documents.name", "like", "user/%")
    .orderBy("row_id")
    .execute();
  for (const { value } of rows) {
    for (const line of bareLinesOf(value.replace(PERSONAL_MARK, ""))) {
      if (lines.has(line)) noted.add(line);
    }
  }
  return noted;
}
