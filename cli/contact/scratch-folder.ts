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

/** What is still there of a folder that was to be gone. */
export interface Remains {
  /** In a sentence. */
  readonly why: string;
  /** Whether a process has it. */
  readonly isInUse: boolean;
}

/** A folder of the system's temporary ones that is gone with the process that made it. */
export interface ScratchFolder {
  readonly dir: string;
  /** An empty folder in it, for a home. */
  readonly home: Home;
  /** Ends a daemon that was started in its home, and deletes it. Says what it could not do. */
  clear(): Promise<Remains | undefined>;
}

/**
 * Makes one, and deletes those whose process was killed before it could. A daemon that was started
 * in one of those is ended.
 */
export async function makeScratchFolder(purpose: "exec" | "demo"): Promise<ScratchFolder> {
  await clearLeftBehind();
  for (;;) {
    const dir = await makeIn(tmpdir(), purpose);
    const lock = await hold(dir);
    // Undefined where another command took it for one that was left behind, and deletes it.
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
    // One that can't be deleted now hinders nothing; whoever comes next tries again.
    await clearIfUnheld(join(tmpdir(), name)).catch(() => {});
  }
}

async function clearIfUnheld(dir: string): Promise<void> {
  const { uid, mode } = await lstat(dir);
  const isOwn = uid === userInfo().uid && (mode & 0o777) === PRIVATE_FOLDER;
  if (!isOwn) return;
  // Its process was killed before it held it. With something in it, it is somebody else's.
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
    // A path that is too long for a socket has it in a folder of its own.
    const place = dirname(home.socket);
    if (place !== home.dir) await rm(place, { recursive: true, force: true });
    // What says that it was held goes last: where this is cut short, it is found again.
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
  // Without the right to write in it nobody could have its locks.
  chmodSync(home.dir, PRIVATE_FOLDER);
  return await endOccupants(home);
}

/**
 * A process that was to start a daemon in it, and has not begun, does not find it any more. The new
 * name is one that is looked for, too.
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
