import type { Home } from "../../daemon/home/home.ts";
import { type DaemonRecord, findHolder } from "../../daemon/supervise/daemon-record.ts";
import { storageFailure } from "../../shared/sqlite/failures.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CommandFailed } from "../screen/errors.ts";
import { shownWhile } from "../screen/shown-while.ts";
import { contactDaemon, type GatewayClient } from "./daemon-contact.ts";
import { inStartTurn, untilFree } from "./start-daemon.ts";

/** A daemon ends within two seconds. One that takes longer than this hangs. */
const END_DEADLINE_MS = 10_000;
/** A killed process has ended after this time, unless the system itself hangs. */
const KILL_DEADLINE_MS = 5000;
/** A daemon that answered before and has been silent for this long hangs. Ending takes less. */
const SILENCE_MS_MAX = 8000;
/** A daemon that never answered may still be starting. */
const START_MS_MAX = 15_000;
const POLL_MS = 50;

/** Who holds the home's lock. */
export type Occupant =
  | { readonly kind: "nobody" }
  | { readonly kind: "daemon"; readonly daemon: GatewayClient }
  /** A process that does not answer; `holder` is undefined if nobody knows which one. */
  | { readonly kind: "silent"; readonly holder: DaemonRecord | undefined };

/** Decides by answers and by the lock. Waits for a daemon that is just starting or ending. */
export async function findOccupant(home: Home): Promise<Occupant> {
  return await shownWhile("looking for the daemon", lookForOccupant(home));
}

async function lookForOccupant(home: Home): Promise<Occupant> {
  const since = realWorld.monotonic();
  for (;;) {
    const daemon = await contactDaemon(home);
    if (daemon) return { kind: "daemon", daemon };
    const lock = await untilFree(home.lock, 0).catch((thrown) => nobodyUnlessHeld(home, thrown));
    if (lock === "nobody") return { kind: "nobody" };
    lock?.release();
    if (lock) return { kind: "nobody" };
    const holder = findHolder(home);
    const silentMs = realWorld.monotonic() - since;
    if (silentMs > (holder?.ready ? SILENCE_MS_MAX : START_MS_MAX)) {
      return { kind: "silent", holder };
    }
    await delay(realWorld, POLL_MS);
  }
}

/**
 * Decides where the lock can't be tried, as on a disk that can't be written: "nobody" if no process
 * has the lock's file open. Throws `thrown` if one has.
 */
function nobodyUnlessHeld(home: Home, thrown: unknown): "nobody" {
  if (!isUnwritable(thrown) || findHolder(home) !== undefined) throw thrown;
  return "nobody";
}

function isUnwritable(thrown: unknown): boolean {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  return process.platform !== "win32" && storageFailure(cause) !== undefined;
}

/** `inStartTurn` for ending a daemon, which is possible where there is no room for a lock, too. */
export async function inEndTurn<Result>(home: Home, work: () => Promise<Result>): Promise<Result> {
  let hasBegun = false;
  const begun = () => {
    hasBegun = true;
    return work();
  };
  try {
    return await inStartTurn(home, begun);
  } catch (thrown) {
    if (hasBegun || !isUnwritable(thrown)) throw thrown;
    return await work();
  }
}

/**
 * Asks the daemon to end, and resolves when it has. Kills it if it does not end and may be killed.
 */
export async function stopDaemon(home: Home, daemon: GatewayClient): Promise<void> {
  await daemon.call("POST", "/_memsync/stop", { body: {} });
  if (await shownWhile("ending the daemon", hasEnded(home, END_DEADLINE_MS))) return;
  await killSilent(home, findHolder(home));
}

/**
 * Kills a daemon that no longer answers; everything acknowledged is on the disk. A daemon at a
 * terminal is left alone, and one that never answered, which may be rewriting its database.
 */
export async function killSilent(home: Home, holder: DaemonRecord | undefined): Promise<void> {
  if (!holder?.ready || holder.started === "foreground") {
    const which = holder ? ` (process ${holder.pid})` : "";
    const sentence = `another memsync process${which} holds ${home.dir} and does not answer`;
    throw new CommandFailed(`${sentence}: wait, or end it and try again`);
  }
  process.kill(holder.pid, "SIGKILL");
  if (await hasEnded(home, KILL_DEADLINE_MS)) return;
  throw new CommandFailed(`the daemon (process ${holder.pid}) hangs and can't be killed`);
}

async function hasEnded(home: Home, deadlineMs: number): Promise<boolean> {
  try {
    const lock = await untilFree(home.lock, deadlineMs);
    lock?.release();
    return lock !== undefined;
  } catch (thrown) {
    if (!isUnwritable(thrown)) throw thrown;
    return await hasGone(home, deadlineMs);
  }
}

/** Whether no process has the lock's file open any more, where the lock can't be tried. */
async function hasGone(home: Home, deadlineMs: number): Promise<boolean> {
  const deadline = realWorld.monotonic() + deadlineMs;
  while (findHolder(home) !== undefined) {
    if (realWorld.monotonic() > deadline) return false;
    await delay(realWorld, POLL_MS);
  }
  return true;
}
