import { existsSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { sql } from "kysely";
import type { Home } from "../../daemon/home/home.ts";
import { hasLostDatabase, openHomeReader, openServiceReader } from "../../daemon/home/open-home.ts";
import { readDamageNotes } from "../../daemon/recovery/set-aside.ts";
import { AppError, messageOf } from "../../shared/errors.ts";
import { isDamage, noRoomAt } from "../../shared/sqlite/failures.ts";
import { MisfitError } from "../../shared/sqlite/misfit.ts";
import { VERSION } from "../../shared/version.ts";
import { bytesShown } from "../screen/output.ts";
import { diskRemedyOf, type Finding, findingOf, noted } from "./finding.ts";

const OTHERS = 0o077;
const ENTER_AND_WRITE = constants.W_OK | constants.X_OK;

export async function checkHome({ dir }: Home): Promise<Finding> {
  if (!existsSync(dir)) {
    const above = nearestFolder(dir);
    const refused = await refusalOf(above, ENTER_AND_WRITE);
    if (refused === undefined) return noted("home-not-made", `${dir}, not made yet`);
    const mend = mendOf(refused, `make it as who may write in ${above}`);
    return noted(
      "home-unmakable",
      `${dir} can't be made or looked into`,
      `${mend}, ${ANOTHER_HOME}`,
    );
  }
  const refused = (await refusalOf(dir, ENTER_AND_WRITE)) ?? noRoomAt(dir);
  if (refused === undefined) return noted("home-writable", `${dir}, can be written`);
  const mend = mendOf(refused, `chmod u+rwx '${dir}'`);
  return noted("home-unwritable", `${dir} can't be written`, `${mend}, ${ANOTHER_HOME}`);
}

const ANOTHER_HOME = "or set MEMSYNC_HOME to another folder";

/** The system's refusal of access to a path; undefined if it is allowed. */
async function refusalOf(path: string, mode: number): Promise<unknown> {
  return await access(path, mode).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

/** What helps: rights are no remedy where the disk itself refuses. */
function mendOf(refused: unknown, rights: string): string {
  return diskRemedyOf(refused) ?? rights;
}

/** The folder, or the nearest existing one above it. */
export function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Nobody else may read the home. Its socket and token have guards of their own. */
export async function checkPermissions(home: Home): Promise<Finding> {
  const guarded = [home.dir, home.gateway, home.socket, home.credentials];
  for (const path of [...guarded, home.database, home.service, home.log].filter(existsSync)) {
    const { mode, uid } = await stat(path);
    if (uid !== userInfo().uid) {
      const mend = `sudo chown -R ${userInfo().uid} '${home.dir}'`;
      return noted("permissions-owner", `${path} belongs to another account`, mend);
    }
    if (guarded.includes(path) && (mode & OTHERS) !== 0) {
      return noted("permissions-open", `others may open ${path}`, `chmod go-rwx '${path}'`);
    }
  }
  return noted("permissions-closed", "only this account may look into it");
}

/** Reads every page of the database, without disturbing a running daemon. */
export async function checkHomeDatabase(home: Home): Promise<Finding> {
  const { database: path } = home;
  const open = () => openHomeReader(path);
  const isLost = await hasLostDatabase(home).catch(() => false);
  if (isLost) return noted("database-lost", `${path} is gone, or empty`, REBUILD_LOST);
  if (!existsSync(path)) return noted("database-not-made", "not made yet");
  return await checkFile({ about: "database", path, open, rebuild: REBUILD });
}

/** The same for the embedded service's database, if there is one. */
export async function checkEmbedded({ service: path }: Home): Promise<Finding[]> {
  if (!existsSync(path)) return [];
  const open = async () => {
    const { hostSchema } = await import("../../daemon/embedded/embedded-service.ts");
    return await openServiceReader(path, hostSchema);
  };
  const looked = { about: "service.db", path, open, rebuild: REBUILD_SERVICE };
  return [await findingOf(looked.about, () => checkFile(looked))];
}

const RESTART = "`memsync restart`, or end `memsync up` and run it again: that";
const REBUILD =
  `${RESTART} sets the database aside and makes a new one of what can be read of it and what the ` +
  "service has";
const REBUILD_LOST = `${RESTART} makes a new one of the copies beside it and what the service has`;
const REBUILD_SERVICE = `${RESTART} sets it aside and makes a new one of all that memsync.db has`;

/** A database, and what repairs it. */
interface LookedAt {
  readonly about: string;
  readonly path: string;
  /** Undefined: it is just being created. */
  readonly open: () => ReturnType<typeof openHomeReader>;
  readonly rebuild: string;
}

/** The finding about a database, under its own name. */
async function checkFile(looked: LookedAt): Promise<Finding> {
  return { ...(await findingAbout(looked)), about: looked.about };
}

async function findingAbout(looked: LookedAt): Promise<Finding> {
  const { path, open, rebuild } = looked;
  const refused = await refusalOf(path, constants.R_OK | constants.W_OK);
  if (refused !== undefined) {
    return noted(
      "database-unwritable",
      `${path} can't be written`,
      mendOf(refused, `chmod u+rw '${path}'`),
    );
  }
  let db: Awaited<ReturnType<typeof open>>;
  try {
    db = await open();
  } catch (thrown) {
    return unopenedFinding(looked, thrown);
  }
  if (!db) return noted("database-being-made", "being made");
  try {
    const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db);
    const problem = rows[0]?.quick_check ?? "no answer";
    if (problem === "ok") return noted("database-sound", `sound, ${await sizeOf(path)}`);
    return noted("database-damaged", `${path} is damaged: ${problem}`, rebuild);
  } finally {
    await db.destroy();
  }
}

/** The finding about a database that can't be used. Rethrows errors that are not its fault. */
function unopenedFinding({ path, rebuild }: LookedAt, thrown: unknown): Finding {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (cause instanceof AppError) {
    const mend = "update memsync, or set MEMSYNC_HOME to another folder; nothing was changed";
    return noted(
      "database-newer",
      `${path} was written by a newer memsync than this one, ${VERSION}`,
      mend,
    );
  }
  if (cause instanceof MisfitError) {
    return noted("database-misfit", `${path} is not as memsync made it: ${cause.message}`, rebuild);
  }
  if (isDamage(cause))
    return noted("database-damaged", `${path} is damaged: ${messageOf(cause)}`, rebuild);
  throw thrown;
}

/** Damaged databases that were set aside and are still there. */
export function checkSetAside({ dir }: Home): Finding[] {
  if (!existsSync(dir)) return [];
  return readDamageNotes(dir).map(({ message, set_aside }) => {
    return noted("database-set-aside", message, `delete ${set_aside}* when nothing is missed`);
  });
}

async function sizeOf(path: string): Promise<string> {
  const { size } = await stat(path);
  const log = existsSync(`${path}-wal`) ? (await stat(`${path}-wal`)).size : 0;
  return bytesShown(size + log);
}

const LOG_BYTES_MUCH = 64 * 1024 * 1024;

export async function checkLog(home: Home): Promise<Finding> {
  if (!existsSync(home.log)) return noted("log-none", "none yet");
  const { size } = await stat(home.log);
  const detail = `${home.log}, ${bytesShown(size)}`;
  if (size < LOG_BYTES_MUCH) return noted("log-kept", detail);
  return noted(
    "log-large",
    detail,
    "`memsync logs` shows what is written so often; then delete it",
  );
}
