import type { Kysely } from "kysely";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { listHeld, placeOf } from "../held/held-store.ts";
import type { DaemonTables } from "../tables.ts";
import type { FileState } from "./follow-store.ts";

type Db = Kysely<DaemonTables>;

/**
 * Whether a file is as it was left and its project's text says the same, with nothing held: then a
 * look at it has nothing to do, and its document need not be made. Of every look this is the rule.
 */
export async function isUnchanged(
  db: Db,
  open: OpenDocument,
  state: FileState | undefined,
  file: { readonly content: string; readonly hash: string },
): Promise<boolean> {
  if (state?.hash !== file.hash) return false;
  const [row] = await findText(db, open.id);
  return row?.content === file.content && (await listHeld(db, placeOf(open))).length === 0;
}

const findText = compiled((db: Db, documentId: number) =>
  db.selectFrom("texts").select("content").where("document_id", "=", documentId),
);
