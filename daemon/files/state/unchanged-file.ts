import type { Kysely } from "kysely";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { compiled } from "../../../shared/sqlite/compiled.ts";
import { listHeld, placeOf } from "../../home/held-store.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { CheckedOut, FollowedState } from "./follow-store.ts";

type Db = Kysely<DaemonTables>;

/**
 * Whether a look at a file has nothing to do, so that its document need not be loaded: file,
 * document and checked-out commit are as they were left, both texts are equal, and nothing is held.
 */
export async function isUnchanged(
  db: Db,
  open: OpenDocument,
  {
    known,
    file,
    checkedOut,
    beside,
    linkedAs,
  }: {
    readonly known: FollowedState;
    readonly file: { readonly content: string; readonly hash: string };
    readonly checkedOut: CheckedOut;
    readonly beside: readonly string[];
    readonly linkedAs?: string | undefined;
  },
): Promise<boolean> {
  const { position, next, isGone, marked } = known;
  if (known.hash !== file.hash || isGone || next || marked) return false;
  if (position?.seq !== open.head.seq || position.epoch !== open.head.epoch) return false;
  if (known.beside?.join() !== beside.join() || known.linkedAs !== linkedAs) return false;
  const { commit, head, headEntry, repository } = known.checkedOut;
  if (commit !== checkedOut.commit || head !== checkedOut.head) return false;
  if (headEntry !== checkedOut.headEntry) return false;
  if (repository !== checkedOut.repository) return false;
  const [row] = await findText(db, { documentId: open.id });
  if ((row?.content ?? "") !== file.content) return false;
  return !(await listHeld(db, placeOf(open))).some(({ kind, shown }) => kind === "file" || shown);
}

const findText = compiled((db: Db, { documentId }: { readonly documentId: number }) =>
  db.selectFrom("texts").select("content").where("document_id", "=", documentId),
);
