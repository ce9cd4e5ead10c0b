import { join } from "node:path";
import type { Kysely } from "kysely";
import { parseVersion } from "../assistants/personal/version.ts";
import { listTold, type ToldLine } from "../files/arrivals/told-lines.ts";
import { listPersonalFiles } from "../home/personal-files.ts";
import type { DaemonTables } from "../home/tables.ts";

/** A line of which somebody is told, and the file that it is about. */
export interface ToldOfFile extends ToldLine {
  readonly path: string;
}

/** All lines of assistants' files of which somebody is told on this machine. */
export async function listToldOfFiles(
  db: Kysely<DaemonTables>,
  now: number,
): Promise<ToldOfFile[]> {
  const memories = await db
    .selectFrom("memory_files")
    .select(["folder", "name", "text"])
    .orderBy("folder")
    .orderBy("name")
    .execute();
  const personal = await listPersonalFiles(db);
  const files = [
    ...memories.map(({ folder, name, text }) => ({ path: join(folder, name), text })),
    ...personal.map(({ path, shown }) => {
      return { path, text: shown === undefined ? "" : parseVersion(shown).text };
    }),
  ];
  const told: ToldOfFile[] = [];
  for (const { path, text } of files) {
    for (const each of await listTold(db, { path, text, now })) told.push({ ...each, path });
  }
  return told;
}
