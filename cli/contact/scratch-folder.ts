import { chmodSync, existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, rename, rm, rmdir } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { type Home, homeOf, SCRATCH_NAME } from "../../daemon/home/home.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import { type Lock, takeLock } from "../../shared/sqlite/lock.ts";
import { CommandFailed } from "../screen/errors.ts";
import { deleteFolder } from "./delete-folder.ts";
import { endOccupants } from "./end-occupants.ts";

/** Held by the process that made the folder, as long as it lives. */
const HELD = "held.lock";

const PRIVATE_FOLDER = 0o700;

/** Why a folder that was to be deleted is still there. */
export interface Remains {
  /** The reason, in a sentence. */
  readonly why: string;
  /** Whether a process still uses it. */
  readonly isInUse: boolean;
}

/** A folder of the system's temporary ones that is gone with the process that made it. */
export interface ScratchFolder {
  readonly dir: string;
  /** An empty folder in it, for a home. */
  readonly home: Home;
  /**
   * Ends a daemon that runs in its home, and deletes the folder. Resolves to what it could not do.
   */
  clear(): Promise<Remains | undefined>;
}

/**
 * Makes such a folder, and deletes those whose process was killed before it could. A daemon that
 * runs in one of these is ended.
 */
export async function makeScratchFolder(purpose: "exec" | "demo"): Promise<ScratchFolder> {
  await clearLeftBehind();
  for (;;) {
    const dir = await makeIn(tmpdir(), purpose);
    const lock = await hold(dir);
    // Undefined if another command took the new folder for one that was left behind, and deletes
    // it.
    if (!lock) continue;
    return {
      dir,
      home: homeIn(dir),
      async clear() {
        try {
          return await clear(dir);
        } finally {
          lock.release();
        }
      },
    };
  }
}

async function makeIn(place: string, purpose: string): Promise<string> {
  try {
    return await mkdtemp(join(place, `memsync-${purpose}-`));
  } catch (thrown) {
    throw new CommandFailed(`no folder can be made in ${place}: ${fileFailure(thrown)}`);
  }
}

/** Makes its home. */
async function hold(dir: string): Promise<Lock | undefined> {
  let lock: Lock | undefined;
  try {
    lock = await takeLock(join(dir, HELD));
    if (lock) await mkdir(homeIn(dir).dir, { mode: PRIVATE_FOLDER });
    return lock;
  } catch (thrown) {
    lock?.release();
    if (existsSync(dir)) throw thrown;
    return undefined;
  }
}

function homeIn(dir: string): Home {
  return homeOf({ MEMSYNC_HOME: join(dir, "home") });
}

async function clearLeftBehind(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    if (!SCRATCH_NAME.test(name)) continue;
    // A folder that can't be deleted now is left for the next command to try.
    await clearIfUnheld(join(tmpdir(), name)).catch(() => {});
  }
}

async function clearIfUnheld(dir: string): Promise<void> {
  const { uid, mode } = await lstat(dir);
  const isOwn = uid === userInfo().uid && (mode & 0o777) === PRIVATE_FOLDER;
  if (!isOwn) return;
  // Its process was killed before it took the lock. If anything is in the folder, it is somebody
  // else's, and `rmdir` refuses.
  if (!existsSync(join(dir, HELD))) return await rmdir(dir);
  const lock = await takeLock(join(dir, HELD));
  try {
    if (lock) await clear(dir);
  } finally {
    lock?.release();
  }
}

async function clear(dir: string): Promise<Remains | undefined> {
  let isInUse = true;
  try {
    const home = homeIn(dir);
    const locks = existsSync(home.dir) ? await takeFromAll(home) : [];
    isInUse = false;
    const gone = await nameAnew(dir);
    for (const lock of locks) lock.release();
    // A home whose path is too long for a socket has its socket in another folder.
    const place = dirname(home.socket);
    if (place !== home.dir) await rm(place, { recursive: true, force: true });
    // The lock's file is deleted last: if this is interrupted, the folder is still known as one of
    // ours.
    for (const name of await readdir(gone)) {
      if (name !== HELD) await deleteFolder(join(gone, name));
    }
    await deleteFolder(gone);
    return undefined;
  } catch (thrown) {
    const at = thrown instanceof Error && "path" in thrown ? thrown.path : dir;
    const why = thrown instanceof CommandFailed ? thrown.message : `${at}: ${fileFailure(thrown)}`;
    return { why: `its temporary folder stays: ${why}`, isInUse };
  }
}

async function takeFromAll(home: Home): Promise<Lock[]> {
  // Nobody could take the locks in a folder that can't be written.
  chmodSync(home.dir, PRIVATE_FOLDER);
  return await endOccupants(home);
}

/**
 * Renames the folder, so that a process that is about to start a daemon in it does not find it. The
 * new name is one that is looked for, too.
 */
async function nameAnew(dir: string): Promise<string> {
  const other = await mkdtemp(dir.slice(0, dir.lastIndexOf("-") + 1));
  try {
    await rename(dir, other);
    return other;
  } catch {
    // Windows does not move a folder in which a file is open.
    await rmdir(other);
    return dir;
  }
}
