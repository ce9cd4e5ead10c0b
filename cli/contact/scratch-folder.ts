import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { type Home, homeOf } from "../../daemon/home/home.ts";
import { assert } from "../../shared/errors.ts";
import { takeLock } from "../../shared/sqlite/lock.ts";
import { contactDaemon } from "./daemon-contact.ts";
import { stopDaemon } from "./stop-daemon.ts";

/** Held by the process that made the folder, as long as it lives. */
const HELD = "held.lock";

/** As `mkdtemp` names them, so that a folder which somebody has named is none. */
const NAME = /^memsync-(?:exec|demo)-[0-9A-Za-z]{6}$/;

const PRIVATE_FOLDER = 0o700;

/** A folder of the system's temporary ones that is gone with the process that made it. */
export interface ScratchFolder {
  readonly dir: string;
  /** An empty folder in it, for a home. */
  readonly home: Home;
  /** Ends a daemon that was started in its home, and deletes it. */
  clear(): Promise<void>;
}

/**
 * Makes one, and deletes those whose process was killed before it could. A daemon that was started
 * in one of those is ended.
 */
export async function makeScratchFolder(purpose: "exec" | "demo"): Promise<ScratchFolder> {
  await clearLeftBehind();
  const dir = await mkdtemp(join(tmpdir(), `memsync-${purpose}-`));
  // It has the name by which others look for it only when it is held: nobody finds it unheld.
  const unnamed = join(dir, "lock");
  const lock = await takeLock(unnamed);
  assert(lock !== undefined, "a new folder's lock is free");
  await rename(unnamed, join(dir, HELD));
  const home = homeIn(dir);
  await mkdir(home.dir, { mode: PRIVATE_FOLDER });
  return {
    dir,
    home,
    async clear() {
      try {
        await clear(dir);
      } finally {
        lock.release();
      }
    },
  };
}

function homeIn(dir: string): Home {
  return homeOf({ MEMSYNC_HOME: join(dir, "home") });
}

async function clearLeftBehind(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    if (!NAME.test(name)) continue;
    // One that can't be deleted now hinders nothing; whoever comes next tries again.
    await clearIfUnheld(join(tmpdir(), name)).catch(() => {});
  }
}

async function clearIfUnheld(dir: string): Promise<void> {
  const { uid, mode } = await lstat(dir);
  const isOwn = uid === userInfo().uid && (mode & 0o777) === PRIVATE_FOLDER;
  if (!isOwn || !existsSync(join(dir, HELD))) return;
  const lock = await takeLock(join(dir, HELD));
  try {
    if (lock) await clear(dir);
  } finally {
    lock?.release();
  }
}

async function clear(dir: string): Promise<void> {
  const home = homeIn(dir);
  const daemon = await contactDaemon(home);
  if (daemon) await stopDaemon(home, daemon);
  // A path that is too long for a socket has it in a folder of its own.
  const place = dirname(home.socket);
  if (place !== home.dir) await rm(place, { recursive: true, force: true });
  // What says that it was held goes last: where this is cut short, it is found again.
  for (const name of await readdir(dir)) {
    if (name !== HELD) await rm(join(dir, name), { recursive: true, force: true });
  }
  await rm(dir, { recursive: true, force: true });
}
