import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { openConnection } from "../../../shared/sqlite/database.ts";
import { folderEntries } from "../transcripts/list-files.ts";
import type { SessionSource } from "../transcripts/session-source.ts";
import type { TranscriptFile } from "../transcripts/transcript-file.ts";
import { listRows, type SessionRow, sessionFactsOf } from "./session-rows.ts";

/** Other channels of it have a database of their own beside that of the released one. */
const DATABASE = /^opencode(-[\w.-]+)?\.db$/;
/** It writes for a moment only. What waits for it here waits with everything else. */
const BUSY_TIMEOUT_MS = 200;

/** Where OpenCode keeps its sessions: its folder of data, and `OPENCODE_DB`, if there is one. */
export interface OpenCodePlace {
  readonly dataDir: string;
  readonly database: string | undefined;
}

/** A database as it was listed last. */
interface ListedDatabase {
  /** Of its file and of its log. */
  readonly sign: string;
  readonly files: readonly TranscriptFile[];
}

/**
 * OpenCode's sessions: rows of its database. It is opened for reading alone, and only when it was
 * written since the last look. While OpenCode has it to itself, the look at it fails.
 *
 * ```
 * const files = await openCodeSessions({ dataDir, database: undefined }).list();
 * ```
 */
export function openCodeSessions(place: OpenCodePlace): SessionSource {
  const listed = new Map<string, ListedDatabase>();
  return {
    name: "opencode",
    list: async () => {
      const files: TranscriptFile[] = [];
      for (const path of await databasesIn(place)) {
        const sign = await signOf(path);
        const known = listed.get(path);
        const isSame = sign !== undefined && sign === known?.sign;
        const found = isSame ? known.files : sign === undefined ? [] : await sessionsIn(path);
        if (sign !== undefined) listed.set(path, { sign, files: found });
        files.push(...found);
      }
      return files;
    },
    read: async (file) => {
      const { size, modifiedMs, inode, id = "" } = file;
      const database = file.path.slice(0, -`#${id}`.length);
      const facts = await withDatabase(database, (db) => sessionFactsOf(db, id));
      return { facts, size, modifiedMs, inode, offset: 0, head: "" };
    },
  };
}

async function databasesIn({ dataDir, database }: OpenCodePlace): Promise<string[]> {
  const names = (await folderEntries(dataDir)).map(({ name }) => name);
  const own = names.filter((name) => DATABASE.test(name)).map((name) => join(dataDir, name));
  if (!database || database === ":memory:") return own;
  return [...new Set([...own, isAbsolute(database) ? database : join(dataDir, database)])];
}

/**
 * What was written lies in its log first. A reader makes an empty log where there is none.
 * Undefined where there is no database.
 */
async function signOf(path: string): Promise<string | undefined> {
  const stats = [path, `${path}-wal`].map((each) => stat(each).catch(() => undefined));
  const [file, log] = await Promise.all(stats);
  if (!file?.isFile()) return undefined;
  const signs = [file, log].map((each) => (each?.size ? `${each.size} ${each.mtimeMs}` : ""));
  return `${file.ino}, ${signs.join(", ")}`;
}

async function sessionsIn(database: string): Promise<TranscriptFile[]> {
  const rows = await withDatabase(database, listRows);
  return rows.map((row) => ({
    path: `${database}#${row.id}`,
    size: row.messages,
    modifiedMs: row.time_updated,
    inode: digestOf(row),
    form: "row",
    id: row.id,
    cwd: row.directory,
  }));
}

/** A title may change while no time does. */
function digestOf(row: SessionRow): string {
  return createHash("sha256").update(JSON.stringify(row)).digest("hex").slice(0, 16);
}

async function withDatabase<Result>(
  path: string,
  work: (db: Awaited<ReturnType<typeof openConnection>>) => Result,
): Promise<Result> {
  const db = await openConnection(path, true);
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return work(db);
  } finally {
    db.close();
  }
}
