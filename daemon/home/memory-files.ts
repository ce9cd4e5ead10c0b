import { join } from "node:path";
import type { ExpressionBuilder, Kysely, Selectable } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import { entryIdsText, parseEntryIds } from "./entry-ids.ts";
import type { FolderKind } from "./folder-switches.ts";
import { forgetLines } from "./line-arrival-key.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** A text of a memory, and the entries of the document that it stands for. */
export interface StandingMemory {
  /** SHA-256 of its bytes, in hex. */
  readonly hash: string;
  readonly text: string;
  readonly seen: readonly EntryId[];
}

/** What a file showed of which nothing was taken, and into which nothing was written yet. */
export const NEVER_SHOWN: StandingMemory = { hash: "", text: "", seen: [] };

/** A file of a memory folder, as memsync read or wrote it last. */
export interface MemoryFile extends StandingMemory {
  /** Its path in the folder. */
  readonly name: string;
  /** Hash of a text that the file has, and that is held. */
  readonly held?: string | undefined;
  /** What is being written into the file. */
  readonly next?: StandingMemory | undefined;
  /** The file is missing, or its memory was deleted elsewhere, and nobody has decided. */
  readonly asked?: "missing" | "deleted" | undefined;
  /** What a person has decided. */
  readonly settled?: "delete" | "restore" | undefined;
  /** When it came from elsewhere, while the index does not name it. */
  readonly arrivedAt?: number | undefined;
  /**
   * git's name of the file's committed text, empty where it is in no commit; undefined: git did not
   * track it.
   */
  readonly tracked?: string | undefined;
  /**
   * The text is what git has put there. The memory may be another; then `seen` has the entry beside
   * which it is left, and an edit is one of neither.
   */
  readonly isGits?: boolean | undefined;
}

/** Whether nothing was taken of a file or written into it, and nobody has decided about it. */
export function isNeverFilled(known: MemoryFile | undefined): boolean {
  if (!known) return true;
  const { hash, held, next, asked, settled } = known;
  return hash === NEVER_SHOWN.hash && !(held ?? next ?? asked ?? settled);
}

/** Whose memories a folder has: a project's, or those of the person in all projects. */
export type MemoryOwner = ProjectId | "user";

/** The owner of each folder for which it was found once. */
export async function readMemoryFolders(db: Db): Promise<Map<string, MemoryOwner>> {
  const rows = await db.selectFrom("memory_folders").selectAll().orderBy("path").execute();
  return new Map(rows.map(({ path, project_id }) => [path, project_id]));
}

/**
 * Notes a folder's owner. Of another one than before all its files are new. Durable with the
 * transaction.
 */
export async function putMemoryFolder(
  db: Db,
  path: string,
  { owner, kind }: { readonly owner: MemoryOwner; readonly kind: FolderKind },
): Promise<void> {
  const values = { project_id: owner, kind, commit: null };
  const former = (await readMemoryFolders(db)).get(path);
  if (former === owner) return;
  await db.deleteFrom("memory_files").where("folder", "=", path).execute();
  await db
    .insertInto("memory_folders")
    .values({ path, ...values })
    .onConflict((conflict) => conflict.column("path").doUpdateSet(values))
    .execute();
}

/** The commit at which tracked files of a folder were read last. */
export async function findFolderCommit(db: Db, path: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("memory_folders")
    .select("commit")
    .where("path", "=", path)
    .executeTakeFirst();
  return row?.commit ?? undefined;
}

/** Notes at which commit they were read. Durable with the transaction. */
export async function putFolderCommit(db: Db, path: string, commit: string): Promise<void> {
  await db.updateTable("memory_folders").set({ commit }).where("path", "=", path).execute();
}

/** The files of a folder, by name. */
export async function readMemoryFiles(db: Db, folder: string): Promise<Map<string, MemoryFile>> {
  const rows = await db
    .selectFrom("memory_files")
    .selectAll()
    .where("folder", "=", folder)
    .where(isOfFile)
    .orderBy("name")
    .execute();
  return new Map(rows.map((row) => [row.name, toFile(row)]));
}

/** One file of a folder; undefined where it is not known. */
export async function findMemoryFile(
  db: Db,
  folder: string,
  name: string,
): Promise<MemoryFile | undefined> {
  const row = await db
    .selectFrom("memory_files")
    .selectAll()
    .where("folder", "=", folder)
    .where("name", "=", name)
    .where(isOfFile)
    .executeTakeFirst();
  return row && toFile(row);
}

/** Not of one that is gone with its memory: of that a row has which deletions it went with. */
function isOfFile({ eb, or }: ExpressionBuilder<DaemonTables, "memory_files">) {
  return or([
    eb("settled", "is", null),
    eb("settled", "!=", "delete"),
    eb("asked", "is not", null),
  ]);
}

/**
 * Notes that a file is gone with its memory, by these deletions: one that is there later was not
 * there before them.
 */
export async function leaveDeletedFile(
  db: Db,
  folder: string,
  { name, deletions }: { readonly name: string; readonly deletions: readonly EntryId[] },
): Promise<void> {
  await forgetMemoryFile(db, folder, name);
  if (deletions.length === 0) return;
  await putMemoryFile(db, folder, { name, ...NEVER_SHOWN, seen: deletions, settled: "delete" });
}

/** The deletions with which a file has gone. */
export async function deletionsOfFile(
  db: Db,
  folder: string,
  name: string,
): Promise<readonly EntryId[]> {
  const row = await db
    .selectFrom("memory_files")
    .select("seen")
    .where("folder", "=", folder)
    .where("name", "=", name)
    .where("settled", "=", "delete")
    .where("asked", "is", null)
    .executeTakeFirst();
  return row ? parseEntryIds(row.seen) : [];
}

function toFile(row: Selectable<DaemonTables["memory_files"]>): MemoryFile {
  const {
    name,
    hash,
    text,
    seen,
    held,
    next,
    asked,
    settled,
    arrived_at: arrivedAt,
    tracked,
  } = row;
  return {
    name,
    hash,
    text,
    seen: parseEntryIds(seen),
    held: held ?? undefined,
    next: next === null ? undefined : parseStored<StandingMemory>(next),
    asked: asked ?? undefined,
    settled: settled ?? undefined,
    arrivedAt: arrivedAt ?? undefined,
    tracked: tracked ?? undefined,
    isGits: row.is_gits === 1 || undefined,
  };
}

/** Adds a file of a folder, or replaces it. Durable with the transaction. */
export async function putMemoryFile(db: Db, folder: string, file: MemoryFile): Promise<void> {
  const { name, hash, text, seen, held, next, asked, settled, arrivedAt, tracked, isGits } = file;
  const values = {
    hash,
    text,
    seen: entryIdsText(seen),
    held: held ?? null,
    next: next === undefined ? null : JSON.stringify(next),
    asked: asked ?? null,
    settled: settled ?? null,
    arrived_at: arrivedAt ?? null,
    tracked: tracked ?? null,
    is_gits: isGits ? 1 : 0,
  };
  await db
    .insertInto("memory_files")
    .values({ folder, name, ...values })
    .onConflict((conflict) => conflict.columns(["folder", "name"]).doUpdateSet(values))
    .execute();
}

/** A held text of somebody's files. */
interface HeldText {
  readonly owner: MemoryOwner;
  readonly hash: string;
}

/** A file that has such a text. */
interface HeldFile {
  readonly folder: string;
  readonly kind: FolderKind;
  readonly name: string;
}

/** The files of somebody's folders that have it, as far as is known. */
export async function listHeldFiles(db: Db, { owner, hash }: HeldText): Promise<HeldFile[]> {
  return await db
    .selectFrom("memory_files")
    .innerJoin("memory_folders", "memory_folders.path", "memory_files.folder")
    .select(["folder", "kind", "name"])
    .where("held", "=", hash)
    .where("project_id", "=", owner)
    .orderBy("folder")
    .orderBy("name")
    .execute();
}

/** It is held no more. A file that has it still, or again, is judged anew. */
export async function forgetHeldFiles(db: Db, of: HeldText): Promise<void> {
  for (const { folder, name } of await listHeldFiles(db, of)) {
    await db
      .updateTable("memory_files")
      .set({ held: null })
      .where("folder", "=", folder)
      .where("name", "=", name)
      .execute();
  }
}

/** Forgets a file. It is as if it had never been there. */
async function forgetMemoryFile(db: Db, folder: string, name: string): Promise<void> {
  await db
    .deleteFrom("memory_files")
    .where("folder", "=", folder)
    .where("name", "=", name)
    .execute();
  await forgetLines(db, join(folder, name));
}

/** Notes a person's decision about a file that is asked about. False: it no longer is. */
export async function settleMemoryFile(
  db: Db,
  { folder, name }: { readonly folder: string; readonly name: string },
  settled: "delete" | "restore",
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("memory_files")
    .set({ settled })
    .where("folder", "=", folder)
    .where("name", "=", name)
    .where("asked", "is not", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** A file that is asked about. */
export interface AskedMemoryFile {
  readonly folder: string;
  readonly name: string;
  readonly asked: "missing" | "deleted";
  readonly owner: MemoryOwner;
}

/** The files of folders of one kind about which somebody has to decide. */
export async function listAskedMemoryFiles(db: Db, kind: FolderKind): Promise<AskedMemoryFile[]> {
  const rows = await db
    .selectFrom("memory_files")
    .innerJoin("memory_folders", "memory_folders.path", "memory_files.folder")
    .select(["folder", "name", "asked", "project_id"])
    .where("kind", "=", kind)
    .where("asked", "is not", null)
    .where("settled", "is", null)
    .orderBy("folder")
    .orderBy("name")
    .execute();
  return rows.flatMap(({ asked, project_id: owner, ...place }) => {
    return asked === null ? [] : [{ ...place, asked, owner }];
  });
}
