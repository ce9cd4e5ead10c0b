import { join } from "node:path";
import type { SqlValue } from "../../shared/sqlite/connection.ts";
import { parseEntryIds } from "../home/entry-ids.ts";
import { keysOfLines } from "../home/line-arrival-key.ts";
import type { DamagedDocument } from "./damaged-document.ts";
import type { DamagedTable } from "./read-damaged.ts";

type Row = Readonly<Record<string, SqlValue>>;

/** The tables that tell what the files of folders of memories, and those of assistants, had. */
interface FileTables {
  readonly memory_folders: DamagedTable;
  readonly memory_files: DamagedTable;
  readonly personal_files: DamagedTable;
}

interface FoundDocument extends Pick<DamagedDocument, "holds"> {
  readonly name: string;
}

/**
 * What the files of folders of memories had, as far as their document still knows the entries that
 * they showed. Of the others nobody could tell a memory that was deleted from one that is to come
 * back from the service; they are files that were never seen.
 */
export function shownFiles(
  { memory_folders, memory_files }: FileTables,
  found: readonly FoundDocument[],
): Row[] {
  const owners = new Map(memory_folders.rows.map(({ path, project_id }) => [path, project_id]));
  return memory_files.rows.filter(({ folder, seen }) => {
    const owner = owners.get(folder);
    const documents = found.filter(({ name }) => {
      return owner === "user" ? name.startsWith("user/") : name === owner;
    });
    const ids = entryIds(seen);
    return documents.some(({ holds }) => ids?.every(({ client, clock }) => holds(client, clock)));
  });
}

/** The files, where their text is held no more unless it still is: it is judged anew then. */
export function heldAgain(files: readonly Row[], held: readonly Row[]): Row[] {
  const known = new Set(held.map(({ apart }) => apart));
  return files.map((file) => (known.has(file.held ?? null) ? file : { ...file, held: null }));
}

/** Under which `dir` of `file_arrivals` the lines of these files are. */
export function lineKeysOf(files: readonly Row[], { personal_files }: FileTables): Set<string> {
  const paths = [
    ...files.map(({ folder, name }) => join(`${folder}`, `${name}`)),
    ...personal_files.rows.map(({ path }) => `${path}`),
  ];
  return new Set(paths.flatMap(keysOfLines));
}

function entryIds(seen: SqlValue | undefined) {
  try {
    return parseEntryIds(`${seen}`);
  } catch {
    return undefined;
  }
}
