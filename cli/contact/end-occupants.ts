import type { Home } from "../../daemon/home/home.ts";
import { findHolder } from "../../daemon/supervise/daemon-record.ts";
import type { Lock } from "../../shared/sqlite/lock.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CommandFailed } from "../screen/errors.ts";
import { contactDaemon, LIVENESS_DEADLINE_MS } from "./daemon-contact.ts";
import { untilFree } from "./start-daemon.ts";

/** A command starts a daemon within this time, unless something hangs. */
const START_LOCK_MS_MAX = 15_000;
/** A daemon starts within this time, and ends. */
const END_MS_MAX = 5000;
/** A killed process has ended after this time, unless the system itself hangs. */
const KILL_MS_MAX = 5000;
const POLL_MS = 50;

/**
 * For a home that is to be deleted, with all that is in it: ends its daemon, also one that is just
 * starting, and kills one that does not end. Returns the home's locks, so that no other starts.
 * Throws where something runs on.
 */
export async function endOccupants(home: Home): Promise<Lock[]> {
  // The holder of this lock is starting a daemon, which will answer when the lock is free.
  const starting = await untilFree(home.startLock, START_LOCK_MS_MAX);
  try {
    const lock = (await untilEnded(home)) ?? (await killHolder(home));
    return starting ? [starting, lock] : [lock];
  } catch (thrown) {
    starting?.release();
    throw thrown;
  }
}

async function untilEnded(home: Home): Promise<Lock | undefined> {
  const deadline = realWorld.monotonic() + END_MS_MAX;
  let isAsked = false;
  while (realWorld.monotonic() < deadline) {
    const lock = await untilFree(home.lock, 0);
    if (lock) return lock;
    if (!isAsked) isAsked = await askToEnd(home);
    await delay(realWorld, POLL_MS);
  }
  return undefined;
}

async function askToEnd(home: Home): Promise<boolean> {
  const daemon = await contactDaemon(home);
  if (!daemon) return false;
  const options = { body: {}, deadlineMs: LIVENESS_DEADLINE_MS };
  return await daemon.call("POST", "/_memsync/stop", options).then(
    () => true,
    () => false,
  );
}

async function killHolder(home: Home): Promise<Lock> {
  const holder = findHolder(home);
  try {
    if (holder) process.kill(holder.pid, "SIGKILL");
  } catch {
    // The process has just ended, or is another user's and can't be killed.
  }
  const lock = await untilFree(home.lock, holder ? KILL_MS_MAX : 0);
  if (lock) return lock;
  const which = holder ? `process ${holder.pid}` : "a process";
  throw new CommandFailed(`${which} has ${home.dir} and can't be ended`);
}
