import type { Kysely } from "kysely";
import { realPathOf } from "../../git/working-tree.ts";
import { askWhoseText, listPersonalFiles } from "../../home/personal-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { folderOf } from "../names/also-file.ts";
import { findProjectFile, listProjectFiles } from "../names/find-project-file.ts";

/**
 * A folder's files are a project's no more from here on. What stands in such a file between the
 * marks of the personal text may be by the project's members, also where nobody has looked at it
 * since they wrote it. To be called while it is still known which files the project has.
 */
export async function askOfPersonal(db: Kysely<DaemonTables>, dir: string): Promise<void> {
  const personal = await listPersonalFiles(db);
  if (personal.length === 0) return;
  const all = await listProjectFiles(db);
  const files = all.filter((each) => each.isTaken && each.folder === folderOf({ dir }));
  if (files.length === 0) return;
  for (const file of personal) {
    const real = await realPathOf(file.path);
    if (await findProjectFile(files, real)) await askWhoseText(db, file);
  }
}
