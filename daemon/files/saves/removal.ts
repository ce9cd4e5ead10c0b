import type { Kysely } from "kysely";
import type { LineRemoval } from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import type { ReplicaTables } from "../../../shared/replica/log/tables.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { storedTextMachine } from "../../../shared/replica/store/rows.ts";
import { narrowTables } from "../../../shared/sqlite/narrow-tables.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { contentLines } from "../lines/text-lines.ts";

/** The latest removal of any of these lines from the document, as far as its history tells. */
export async function removalOf(
  db: Kysely<DaemonTables>,
  { id }: OpenDocument,
  lines: readonly string[],
): Promise<LineRemoval> {
  const replica: Kysely<ReplicaTables> = narrowTables(db);
  const meant = new Set(lines);
  const former = await listRevisions(replica, id, { kind: "text", key: "" });
  const at = former.findIndex(({ value }) => contentLines(value).some((line) => meant.has(line)));
  const last = former[at];
  if (!last) return { machine: undefined };
  const machine = at === 0 ? storedTextMachine(replica, id) : former[at - 1]?.machine;
  return { machine: machine ?? undefined, at: last.replacedAt };
}
