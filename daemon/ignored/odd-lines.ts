import { dirname, join } from "node:path";
import type { Kysely } from "kysely";
import { noteFrom, type ReasonNote } from "../../shared/reasons.ts";
import { IGNORE_NAME } from "../disk/followable-files.ts";
import { readFileAt } from "../disk/read-file.ts";
import { findIgnoreText } from "../home/ignore-files.ts";
import type { DaemonTables } from "../home/tables.ts";
import { readIgnoreLines } from "./ignore-lines.ts";

type Db = Kysely<DaemonTables>;

/** A line of an ignore file that does not say what its author may have meant. */
export interface OddIgnoreLine extends ReasonNote {
  readonly file: string;
  /** Its number; the first is 1. */
  readonly line: number;
}

/** The odd lines of all ignore files that count, as each was read last. Reads no file. */
export async function keptOddLines(db: Db): Promise<OddIgnoreLine[]> {
  const rows = await db.selectFrom("ignore_files").selectAll().orderBy("dir").execute();
  const kept = new Map(rows.map(({ dir, text }) => [dir, text]));
  return await oddLinesOf(db, async (dir) => kept.get(dir));
}

/** The same as the files are now: whoever wrote one hears of it before it was ever read. */
export async function readOddLines(db: Db): Promise<OddIgnoreLine[]> {
  return await oddLinesOf(db, async (dir) => {
    const read = await readFileAt(dir, IGNORE_NAME);
    return read.kind === "text" ? read.content : await findIgnoreText(db, dir);
  });
}

async function oddLinesOf(
  db: Db,
  textOf: (dir: string) => Promise<string | undefined>,
): Promise<OddIgnoreLine[]> {
  const found: OddIgnoreLine[] = [];
  for (const dir of await foldersOf(db)) {
    for (const { number, text, odd } of readIgnoreLines((await textOf(dir)) ?? "", dir)) {
      if (odd === undefined) continue;
      const code = odd === "no-name" ? "ignore-line-no-name" : "ignore-line-two-readings";
      const note = noteFrom({ code, line: number, text });
      found.push({ file: join(dir, IGNORE_NAME), line: number, ...note });
    }
  }
  return found;
}

/** The folders whose own ignore file counts. */
async function foldersOf(db: Db): Promise<string[]> {
  const linked = await db.selectFrom("links").select("dir").orderBy("dir").execute();
  const own = await db
    .selectFrom("memory_folders")
    .select("path")
    .where("project_id", "=", "user")
    .orderBy("path")
    .execute();
  const personal = await db
    .selectFrom("personal_files")
    .select("path")
    .orderBy("assistant")
    .execute();
  const dirs = [
    ...linked.map(({ dir }) => dir),
    ...own.map(({ path }) => path),
    ...personal.map(({ path }) => dirname(path)),
  ];
  return [...new Set(dirs)];
}
