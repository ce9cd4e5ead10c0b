import type { Kysely } from "kysely";
import {
  findPersonalFile,
  listPersonalFiles,
  type PersonalFile,
  putPersonalFile,
} from "../../home/personal-files.ts";
import type { DaemonTables } from "../../home/tables.ts";

type Db = Kysely<DaemonTables>;

/**
 * What the home knows of the files, for looks. A look lasts, and in the midst of it a person may
 * decide something, by a command that writes into the home itself: what the look puts there is what
 * it has changed, and nothing else.
 */
export class PersonalRows {
  /** As the look that is under way has read them, or put them last. */
  #known = new Map<string, PersonalFile>();

  async list(db: Db): Promise<PersonalFile[]> {
    const files = await listPersonalFiles(db);
    this.#known = new Map(files.map((file) => [file.assistant, file]));
    return files;
  }

  /** Nothing of a file that was forgotten meanwhile comes back. Durable with the transaction. */
  async put(db: Db, file: PersonalFile, now: number): Promise<void> {
    const current = await findPersonalFile(db, file.assistant);
    const known = this.#known.get(file.assistant);
    if (!current) return;
    await putPersonalFile(db, known ? withChanges(current, known, file) : file, now);
    this.#known.set(file.assistant, file);
  }
}

/** What others have changed meanwhile counts, field by field. */
function withChanges(current: PersonalFile, known: PersonalFile, file: PersonalFile): PersonalFile {
  const before = new Map(Object.entries(known));
  const isChanged = ([field, value]: readonly [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before.get(field));
  return { ...file, ...Object.fromEntries(Object.entries(current).filter(isChanged)) };
}
