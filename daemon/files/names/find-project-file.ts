import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Kysely } from "kysely";
import { FOLLOWED_NAMES } from "../../disk/followable-files.ts";
import { realPathOf } from "../../git/working-tree.ts";
import { type Link, listLinks } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { alsoKey, alsoKeysOf, folderOf } from "./also-file.ts";

type Db = Kysely<DaemonTables>;

/** A file on this machine that is a project's, or may become one. */
export interface ProjectFile {
  /** The name of the project. */
  readonly project: string;
  /** The linked folder. */
  readonly folder: string;
  readonly path: string;
  /** Its text has been taken, so the project's members see and write it. */
  readonly isTaken: boolean;
}

/** The files of all linked folders and their folders of memories, those that are taken first. */
export async function listProjectFiles(db: Db): Promise<ProjectFile[]> {
  const links = await listLinks(db);
  const rows = await db.selectFrom("followed_files").select(["dir", "path"]).execute();
  const followed = links.flatMap((link) => {
    const keys = [link.dir, ...alsoKeysOf(link.dir).filter((key) => isAlso(link, key))];
    const own = rows.filter(({ dir }) => keys.includes(dir));
    return own.map((row) => fileOf(link, join(folderOf(row), row.path), true));
  });
  const remembered = await db
    .selectFrom("memory_files")
    .innerJoin("memory_folders", "memory_folders.path", "memory_files.folder")
    .select(["memory_files.folder", "memory_files.name", "memory_folders.project_id"])
    .execute();
  const memories = links.flatMap((link) => {
    const own = remembered.filter(({ project_id }) => project_id === link.projectId);
    return own.map(({ folder, name }) => fileOf(link, join(folder, name), true));
  });
  const possible = links.flatMap((link) => {
    const names = [...FOLLOWED_NAMES, ...(link.file ? [link.file] : []), ...(link.also ?? [])];
    return names.map((name) => fileOf(link, join(link.dir, name), false));
  });
  return [...followed, ...memories, ...possible];
}

/** The first of these that a path without links leads to, also where that is a hard link. */
export async function findProjectFile(
  files: readonly ProjectFile[],
  path: string,
): Promise<ProjectFile | undefined> {
  const own = await identityOf(path);
  const isTwin = async (each: ProjectFile) =>
    own !== undefined && own.names > 1n && (await identityOf(each.path))?.sign === own.sign;
  const folders = new Map<string, Promise<string>>();
  for (const file of files) {
    const folder = dirname(file.path);
    const real = folders.get(folder) ?? realPathOf(folder);
    folders.set(folder, real);
    const plain = join(await real, basename(file.path));
    const isSame = plain === path || (!file.isTaken && (await realPathOf(plain)) === path);
    if (isSame || (await isTwin(file))) return file;
  }
  return undefined;
}

function isAlso({ dir, also = [] }: Link, key: string): boolean {
  return also.some((name) => alsoKey(dir, name) === key);
}

function fileOf({ name, dir }: Link, path: string, isTaken: boolean): ProjectFile {
  return { project: name, folder: dir, path, isTaken };
}

/** Equal for all names of a file; undefined where there is none. */
async function identityOf(path: string) {
  return await stat(path, { bigint: true }).then(
    ({ dev, ino, nlink: names }) => ({ sign: `${dev} ${ino}`, names }),
    () => undefined,
  );
}
