import { existsSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { sql } from "kysely";
import { messageOf } from "../../../shared/errors.ts";
import { isDamage } from "../../../shared/sqlite/failures.ts";
import { MisfitError } from "../../../shared/sqlite/misfit.ts";
import type { Home } from "../../home.ts";
import { openHomeReader } from "../../open-home.ts";
import { readDamageNotes } from "../../recovery/set-aside.ts";
import { bytesShown } from "../output.ts";
import { type Finding, ok, warning, wrong } from "./finding.ts";

const OTHERS = 0o077;
const ENTER_AND_WRITE = constants.W_OK | constants.X_OK;

export async function checkHome({ dir }: Home): Promise<Finding> {
  if (!existsSync(dir)) {
    const above = nearestFolder(dir);
    if (await may(above, ENTER_AND_WRITE)) return ok("home", `${dir}, not made yet`);
    const mend = `make it as who may write in ${above}, or set MEMSYNC_HOME to another folder`;
    return wrong("home", `${dir} can't be made or looked into`, mend);
  }
  if (await may(dir, ENTER_AND_WRITE)) return ok("home", `${dir}, can be written`);
  const mend = `chmod u+rwx '${dir}', or set MEMSYNC_HOME to another folder`;
  return wrong("home", `${dir} can't be written`, mend);
}

async function may(path: string, mode: number): Promise<boolean> {
  return await access(path, mode).then(
    () => true,
    () => false,
  );
}

/** The folder itself, or the nearest one above it that is there. */
export function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Nobody else may look into the home; within it the socket and its token are guarded once more. */
export async function checkPermissions(home: Home): Promise<Finding> {
  const guarded = [home.dir, home.gateway, home.socket, home.credentials];
  for (const path of [...guarded, home.database, home.service, home.log].filter(existsSync)) {
    const { mode, uid } = await stat(path);
    if (uid !== userInfo().uid) {
      const mend = `sudo chown -R ${userInfo().uid} '${home.dir}'`;
      return wrong("permissions", `${path} belongs to another account`, mend);
    }
    if (guarded.includes(path) && (mode & OTHERS) !== 0) {
      return wrong("permissions", `others may open ${path}`, `chmod go-rwx '${path}'`);
    }
  }
  return ok("permissions", "only this account may look into it");
}

/** Reads every page of the database; a running daemon is not disturbed. */
export async function checkDatabase(home: Home): Promise<Finding> {
  if (!existsSync(home.database)) return ok("database", "not made yet");
  if (!(await may(home.database, constants.R_OK | constants.W_OK))) {
    return wrong("database", `${home.database} can't be written`, `chmod u+rw '${home.database}'`);
  }
  let db: Awaited<ReturnType<typeof openHomeReader>>;
  try {
    db = await openHomeReader(home.database);
  } catch (thrown) {
    return unopenedFinding(home, thrown);
  }
  if (!db) return ok("database", "being made");
  try {
    const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db);
    const problem = rows[0]?.quick_check ?? "no answer";
    if (problem === "ok") return ok("database", `sound, ${await sizeOf(home.database)}`);
    return wrong("database", `damaged: ${problem}`, REBUILD);
  } finally {
    await db.destroy();
  }
}

const REBUILD =
  "stop the daemon and start it again: it sets the database aside and makes a new one of what " +
  "can be read of it and what the service has";

/** The finding of a database that can't be used as it is; throws what is no fault of its own. */
function unopenedFinding({ database }: Home, thrown: unknown): Finding {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (cause instanceof MisfitError) {
    const detail = `${database} is not as memsync made it: ${cause.message}`;
    return wrong("database", detail, REBUILD);
  }
  if (isDamage(cause)) return wrong("database", `damaged: ${messageOf(cause)}`, REBUILD);
  throw thrown;
}

/** Databases that were damaged, for as long as they lie set aside. */
export function checkSetAside({ dir }: Home): Finding[] {
  if (!existsSync(dir)) return [];
  return readDamageNotes(dir).map(({ message, set_aside }) => {
    return warning("set aside", message, `delete ${set_aside}* when nothing is missed`);
  });
}

async function sizeOf(path: string): Promise<string> {
  const { size } = await stat(path);
  const log = existsSync(`${path}-wal`) ? (await stat(`${path}-wal`)).size : 0;
  return bytesShown(size + log);
}

const LOG_BYTES_MUCH = 64 * 1024 * 1024;

export async function checkLog(home: Home): Promise<Finding> {
  if (!existsSync(home.log)) return ok("log", "none yet");
  const { size } = await stat(home.log);
  const detail = `${home.log}, ${bytesShown(size)}`;
  if (size < LOG_BYTES_MUCH) return ok("log", detail);
  return warning("log", detail, "`memsync logs` shows what is written so often; then delete it");
}
