import type { Kysely } from "kysely";
import type { DocumentAddress } from "../../../shared/replica/document/address.ts";
import { revisionName } from "../../../shared/replica/history/revision-name.ts";
import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import { addRevision } from "../../../shared/replica/history/unfiled.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { narrowTables } from "../../../shared/sqlite/narrow-tables.ts";
import type { DaemonTables, SaveOutcome } from "../../home/tables.ts";
import type { FileContent } from "./file-edit.ts";

type Context = WriteContext<DaemonTables>;
type Db = Kysely<DaemonTables>;

/** The outcome is kept for this many saves of a document. */
const SAVES_MAX = 100;

/** A text as it was saved. */
export interface SavedText {
  /** Byte for byte. */
  readonly content: string;
  /** Milliseconds since the Unix epoch. */
  readonly savedAt: number;
}

/** A save of a followed file, and its outcome. */
export interface KeptSave extends SavedText {
  readonly dir: string;
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
  addRevision(narrowTables(db), open.id, {
    kind: "save",
    key: "",
    value: save.content,
    writtenAt: Math.round(save.savedAt),
    replacedAt: now,
    machine: open.writer.machine,
  });
}

/** What was saved over before any of it could be taken. */
export interface Overtaken {
  /** Oldest first. */
  readonly saves: readonly FileContent[];
  /** Beginnings of later texts, which are no saves of their own. */
  readonly begun: readonly FileContent[];
}

/** Keeps texts that were saved over before any of them could be taken. */
export async function keepOvertaken(
  context: Context,
  open: OpenDocument,
  { dir, saves, begun }: { readonly dir: string } & Overtaken,
): Promise<void> {
  const last = await readLast(context.db, open.id, dir);
  if (last?.outcome === "waiting") {
    const text = begun.find(({ content }) => revisionName(content) === last.revision);
    if (text) {
      await context.db.deleteFrom("saves").where("id", "=", last.id).execute();
      await dropText(context.db, open, text);
    }
  }
  for (const { content, savedAt } of saves) {
    const told = { outcome: "overtaken", conflicts: [] } as const;
    await keepSave(context, open, { dir, content, savedAt, ...told });
  }
}

/** Whether a folder's last save still waits, because the file disappeared before it was taken. */
export async function isLastWaiting(db: Db, documentId: number, dir: string): Promise<boolean> {
  return (await readLast(db, documentId, dir))?.outcome === "waiting";
}

/** A folder's last save, where that still waits. */
export async function readWaiting(
  db: Db,
  { owner, name }: DocumentAddress,
  dir: string,
): Promise<SavedText | undefined> {
  const document = await db
    .selectFrom("documents")
    .select("id")
    .where("owner", "=", owner)
    .where("name", "=", name)
    .executeTakeFirst();
  if (!document) return undefined;
  const last = await readLast(db, document.id, dir);
  if (last?.outcome !== "waiting") return undefined;
  const texts = await listRevisions(narrowTables(db), document.id, { kind: "save", key: "" });
  const text = texts.find(({ value }) => revisionName(value) === last.revision);
  return text && { content: text.value, savedAt: last.saved_at };
}

/** What waited was saved over, or removed: nothing else will become of it. */
export async function endWaiting(db: Db, documentId: number, { dir, but }: EndedWait) {
  await db
    .updateTable("saves")
    .set({ outcome: "overtaken" })
    .where("document_id", "=", documentId)
    .where("dir", "=", dir)
    .where("outcome", "=", "waiting")
    .where("revision", "!=", but === undefined ? "" : revisionName(but))
    .execute();
}

/** `but`: the text that is there now, which may wait. */
interface EndedWait {
  readonly dir: string;
  readonly but?: string | undefined;
}

/** When a folder's last save was taken, if it is this text, and led to a conflict. */
export async function readToldSave(
  db: Db,
  documentId: number,
  { dir, content }: { readonly dir: string; readonly content: string },
): Promise<number | undefined> {
  const last = await readLast(db, documentId, dir);
  const isTold = last?.outcome === "conflict" && last.revision === revisionName(content);
  return isTold ? last.kept_at : undefined;
}

function savesOf(db: Db, documentId: number, dir: string) {
  return db.selectFrom("saves").where("document_id", "=", documentId).where("dir", "=", dir);
}

async function readLast(db: Db, documentId: number, dir: string) {
  return await savesOf(db, documentId, dir)
    .select(["id", "revision", "outcome", "saved_at", "kept_at"])
    .orderBy("id", "desc")
    .executeTakeFirst();
}

/** Only what was stored for just this save: an equal text may belong to another one. */
async function dropText(db: Db, { id }: OpenDocument, { content, savedAt }: SavedText) {
  await db
    .deleteFrom("revisions")
    .where("document_id", "=", id)
    .where("kind", "=", "save")
    .where("written_at", "=", Math.round(savedAt))
    .where("value", "=", content)
    .execute();
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
    keptSave: { dir, content, savedAt, outcome, conflicts },
    revision,
    now,
  }: { readonly keptSave: KeptSave; readonly revision: string; readonly now: number },
): Promise<boolean> {
  const last = await readLast(db, open.id, dir);
  const isOpen = last?.outcome === "waiting" || last?.outcome === "held";
  const kept =
    isOpen && last.revision === revision
      ? last
      : await findOvertaken(db, open, { dir, savedAt, revision });
  if (!kept) return false;
  await db
    .updateTable("saves")
    .set({ outcome, kept_at: now, conflicts: JSON.stringify([...new Set(conflicts)]) })
    .where("id", "=", kept.id)
    .execute();
  // As a version of the document it needs no place among the saves.
  if (content === open.document.content()) {
    await dropText(db, open, { content, savedAt: kept.saved_at });
  }
  return true;
}

/** This very save, which seemed to be gone for good. */
async function findOvertaken(
  db: Db,
  { id }: OpenDocument,
  { dir, savedAt, revision }: Pick<KeptSave, "dir" | "savedAt"> & { readonly revision: string },
) {
  return await savesOf(db, id, dir)
    .select(["id", "saved_at"])
    .where("outcome", "=", "overtaken")
    .where("saved_at", "=", Math.round(savedAt))
    .where("revision", "=", revision)
    .executeTakeFirst();
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
  await endWaiting(db, id, { dir });
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
