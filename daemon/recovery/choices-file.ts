import { existsSync, readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type Kysely, sql } from "kysely";
import type { SqlValue } from "../../shared/sqlite/connection.ts";
import type { Home } from "../home/home.ts";
import type { DaemonTables } from "../home/tables.ts";
import { keepCopy } from "./keep-copy.ts";

/** Of the versions of the personal text the last ones are enough for a merge. */
const VERSIONS_MAX = 8;

type Row = Readonly<Record<string, SqlValue>>;

/** What only people have decided, and no service and no file says again, as rows of its tables. */
export interface KeptChoices {
  readonly ignore_files: readonly Row[];
  readonly former_ignore_files: readonly Row[];
  readonly personal_files: readonly Row[];
  readonly personal_versions: readonly Row[];
  /** Of sessions that ran while none was recorded. Undefined in a copy of an earlier build. */
  readonly transcripts?: readonly Row[] | undefined;
}

/** Reads what the copy is to have, as JSON: equal as long as nothing of it has changed. */
export async function readChoices(db: Kysely<DaemonTables>): Promise<string> {
  const ignored = await db.selectFrom("ignore_files").selectAll().orderBy("dir").execute();
  const former = await db
    .selectFrom("former_ignore_files")
    .selectAll()
    .orderBy("project_id")
    .orderBy("dir")
    .orderBy("text")
    .execute();
  const files = await db.selectFrom("personal_files").selectAll().orderBy("assistant").execute();
  const versions = await db
    .selectFrom("personal_versions")
    .selectAll()
    .orderBy("number", "desc")
    .limit(VERSIONS_MAX)
    .execute();
  const transcripts = await db
    .selectFrom("transcripts")
    .selectAll()
    .where(sql<boolean>`instr(state, '"isWithheld":true') > 0`)
    .orderBy("path")
    .execute();
  return JSON.stringify({
    ignore_files: ignored.map((row) => ({ ...row })),
    former_ignore_files: former.map((row) => ({ ...row })),
    personal_files: files.map((row) => ({ ...row })),
    personal_versions: versions.reverse().map((row) => ({ ...row })),
    transcripts: transcripts.map((row) => ({ ...row })),
  } satisfies KeptChoices);
}

/** Stores the copy beside the database. */
export function keepChoices(home: Home, choices: string): void {
  keepCopy(home.choices, `${crc32(choices)}\n${choices}`);
}

/** Reads the copy; undefined where there is none, or where its checksum is wrong. */
export function readKeptChoices(home: Home): KeptChoices | undefined {
  if (!existsSync(home.choices)) return undefined;
  try {
    const [sum = "", ...lines] = readFileSync(home.choices, "utf8").split("\n");
    const text = lines.join("\n");
    // The checksum tells that this program wrote it.
    return `${crc32(text)}` === sum ? (JSON.parse(text) as KeptChoices) : undefined;
  } catch {
    return undefined;
  }
}
