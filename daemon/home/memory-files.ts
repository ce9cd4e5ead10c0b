import type { Kysely, Selectable } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import { entryIdsText, parseEntryIds } from "./entry-ids.ts";
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
}

/** The project of each folder for which it was found once. */
export async function readMemoryFolders(db: Db): Promise<Map<string, ProjectId>> {
  const rows = await db.selectFrom("memory_folders").selectAll().orderBy("path").execute();
  return new Map(rows.map(({ path, project_id }) => [path, project_id]));
}

/**
 * Notes a folder's project. Of another project than before all its files are new. Durable with the
 * transaction.
 */
export async function putMemoryFolder(db: Db, path: string, project: ProjectId): Promise<void> {
  const values = { project_id: project };
  const former = (await readMemoryFolders(db)).get(path);
  if (former === project) return;
  await db.deleteFrom("memory_files").where("folder", "=", path).execute();
  await db
    .insertInto("memory_folders")
    .values({ path, ...values })
    .onConflict((conflict) => conflict.column("path").doUpdateSet(values))
    .execute();
}

/** The files of a folder, by name. */
export async function readMemoryFiles(db: Db, folder: string): Promise<Map<string, MemoryFile>> {
  const rows = await db
    .selectFrom("memory_files")
    .selectAll()
    .where("folder", "=", folder)
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
    .executeTakeFirst();
  return row && toFile(row);
}

function toFile(row: Selectable<DaemonTables["memory_files"]>): MemoryFile {
  const { name, hash, text, seen, held, next, asked, settled, arrived_at: arrivedAt } = row;
  return {
    name,
    hash,
    text,
    seen: parseEntryIds(seen),
    held: held ?? undefined,
    next: next === null ? undefined : (JSON.parse(next) as StandingMemory),
    asked: asked ?? undefined,
    settled: settled ?? undefined,
    arrivedAt: arrivedAt ?? undefined,
  };
}

/** Adds a file of a folder, or replaces it. Durable with the transaction. */
export async function putMemoryFile(db: Db, folder: string, file: MemoryFile): Promise<void> {
  const { name, hash, text, seen, held, next, asked, settled, arrivedAt } = file;
  const values = {
    hash,
    text,
    seen: entryIdsText(seen),
    held: held ?? null,
    next: next === undefined ? null : JSON.stringify(next),
    asked: asked ?? null,
    settled: settled ?? null,
    arrived_at: arrivedAt ?? null,
  };
  await db
    .insertInto("memory_files")
    .values({ folder, name, ...values })
    .onConflict((conflict) => conflict.columns(["folder", "name"]).doUpdateSet(values))
    .execute();
}

/** Forgets a file. It is as if it had never been there. */
export async function forgetMemoryFile(db: Db, folder: string, name: string): Promise<void> {
  await db
    .deleteFrom("memory_files")
    .where("folder", "=", folder)
    .where("name", "=", name)
    .execute();
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
  readonly project: ProjectId;
}

/** The files about which somebody has to decide. */
export async function listAskedMemoryFiles(db: Db): Promise<AskedMemoryFile[]> {
  const rows = await db
    .selectFrom("memory_files")
    .innerJoin("memory_folders", "memory_folders.path", "memory_files.folder")
    .select(["folder", "name", "asked", "project_id"])
    .where("asked", "is not", null)
    .where("settled", "is", null)
    .orderBy("folder")
    .orderBy("name")
    .execute();
  return rows.flatMap(({ asked, project_id: project, ...place }) => {
    return asked === null ? [] : [{ ...place, asked, project }];
  });
}
