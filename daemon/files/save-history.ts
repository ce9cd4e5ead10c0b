import type { Kysely } from "kysely";
import { revisionName } from "../../shared/replica/history/revision-name.ts";
import { addRevision } from "../../shared/replica/history/revisions.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { DaemonTables, SaveOutcome } from "../home/tables.ts";
import type { FileContent } from "./file-edit.ts";

type Context = WriteContext<DaemonTables>;
type Db = Kysely<DaemonTables>;

/** The outcome is kept for this many saves of a document. */
const SAVES_MAX = 100;

/** A save of a followed file, and its outcome. */
export interface KeptSave {
  readonly dir: string;
  /** Byte for byte. */
  readonly content: string;
  /** Milliseconds since the Unix epoch. */
  readonly savedAt: number;
  readonly outcome: SaveOutcome;
  /** Ids of the conflicts that it led to. */
  readonly conflicts: readonly string[];
}

/**
 * Keeps a save in the history, in the transaction that decides its outcome. A text that the
 * document holds byte for byte is in the history anyway; any other text is stored here.
 */
export async function keepSave({ db, now }: Context, open: OpenDocument, save: KeptSave) {
  const revision = revisionName(save.content);
  if (await settleKept(db, open, { keptSave: save, revision, now })) return;
  await addSave(db, open, { save, revision, keptAt: now });
  if (save.content === open.document.content()) return;
  await addRevision(narrowTables(db), open.id, {
    kind: "save",
    key: "",
    value: save.content,
    writtenAt: Math.round(save.savedAt),
    replacedAt: now,
    machine: open.writer.machine,
  });
}

/** Keeps texts that were saved over before any of them could be taken, oldest first. */
export async function keepOvertaken(
  context: Context,
  open: OpenDocument,
  { dir, texts }: { readonly dir: string; readonly texts: readonly FileContent[] },
): Promise<void> {
  for (const { content, savedAt } of texts) {
    const told = { outcome: "overtaken", conflicts: [] } as const;
    await keepSave(context, open, { dir, content, savedAt, ...told });
  }
}

/** Whether a folder's last save still waits, because the file disappeared before it was taken. */
export async function isLastWaiting(db: Db, documentId: number, dir: string): Promise<boolean> {
  const last = await db
    .selectFrom("saves")
    .select("outcome")
    .where("document_id", "=", documentId)
    .where("dir", "=", dir)
    .orderBy("id", "desc")
    .executeTakeFirst();
  return last?.outcome === "waiting";
}

/**
 * Updates a save that waited or was held, or this very one, where it is stored already. False:
 * this is another save. What is taken now becomes a version of the text now, by whose time the two
 * are known to be one.
 */
async function settleKept(
  db: Db,
  open: OpenDocument,
  {
    keptSave: { dir, savedAt, outcome, conflicts },
    revision,
    now,
  }: { readonly keptSave: KeptSave; readonly revision: string; readonly now: number },
): Promise<boolean> {
  const last = await db
    .selectFrom("saves")
    .select(["id", "revision", "outcome", "saved_at"])
    .where("document_id", "=", open.id)
    .where("dir", "=", dir)
    .orderBy("id", "desc")
    .executeTakeFirst();
  const isOpen = last?.outcome === "waiting" || last?.outcome === "held";
  const isSame = last?.outcome === "overtaken" && last.saved_at === Math.round(savedAt);
  if (!(isOpen || isSame) || last.revision !== revision) return false;
  await db
    .updateTable("saves")
    .set({ outcome, kept_at: now, conflicts: JSON.stringify([...new Set(conflicts)]) })
    .where("id", "=", last.id)
    .execute();
  return true;
}

async function addSave(
  db: Db,
  { id }: OpenDocument,
  {
    save,
    revision,
    keptAt,
  }: { readonly save: KeptSave } & { readonly revision: string; readonly keptAt: number },
): Promise<void> {
  const { dir, savedAt, outcome, conflicts } = save;
  await db
    .insertInto("saves")
    .values({
      document_id: id,
      dir,
      revision,
      saved_at: Math.round(savedAt),
      kept_at: keptAt,
      outcome,
      conflicts: JSON.stringify([...new Set(conflicts)]),
    })
    .execute();
  const beyond = await db
    .selectFrom("saves")
    .select("id")
    .where("document_id", "=", id)
    .orderBy("id", "desc")
    .offset(SAVES_MAX)
    .limit(1)
    .executeTakeFirst();
  if (!beyond) return;
  await db.deleteFrom("saves").where("document_id", "=", id).where("id", "<=", beyond.id).execute();
}
