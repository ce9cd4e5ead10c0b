import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, readFileSync, statSync } from "node:fs";
import { type Home, prepareHome } from "../../daemon/home/home.ts";
import { openLogFile } from "../../daemon/supervise/rotating-file.ts";
import { RUNTIME_ENVIRONMENT } from "../../daemon/supervise/runtime-environment.ts";
import { selfCommand } from "../../daemon/supervise/self-command.ts";
import { ServiceManager } from "../../daemon/supervise/service-manager.ts";
import { messageOf } from "../../shared/errors.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import { noRoomAt, storageFailure } from "../../shared/sqlite/failures.ts";
import { type Lock, takeLock } from "../../shared/sqlite/lock.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CommandFailed } from "../screen/errors.ts";
import { lastWords } from "../screen/log-view.ts";
import { sayAside } from "../screen/output.ts";
import { shownWhile } from "../screen/shown-while.ts";
import { contactDaemon, type GatewayClient } from "./daemon-contact.ts";

const POLL_MS = 50;
/** A daemon that rewrites a large database may take this long to start. */
const START_DEADLINE_MS = 60_000;
/** Another command takes at most this long to start or stop a daemon. */
const TURN_DEADLINE_MS = 90_000;
/** This many of the last lines of a daemon that died are shown. */
const LAST_LINES = 10;

/** Runs `work` while no other command starts, stops or replaces the home's daemon. */
export async function inStartTurn<Result>(
  home: Home,
  work: () => Promise<Result>,
): Promise<Result> {
  prepareHome(home);
  const free = untilFree(home.startLock, TURN_DEADLINE_MS);
  const lock = await shownWhile("waiting for another memsync command", free);
  if (!lock) throw new CommandFailed("another memsync command is starting or stopping the daemon");
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Whether another command was starting or stopping a daemon. Resolves when that is over, or at the
 * deadline.
 */
export async function wasInStartTurn(home: Home, deadlineMs = START_DEADLINE_MS): Promise<boolean> {
  if (!existsSync(home.startLock)) return false;
  const atOnce = await takeLock(home.startLock);
  const lock = atOnce ?? (await untilFree(home.startLock, deadlineMs));
  lock?.release();
  return atOnce === undefined;
}

/** The lock, once its holder has gone; undefined after the deadline. */
export async function untilFree(path: string, deadlineMs: number): Promise<Lock | undefined> {
  const deadline = realWorld.monotonic() + deadlineMs;
  for (;;) {
    const lock = await takeLock(path);
    if (lock || realWorld.monotonic() > deadline) return lock;
    await delay(realWorld, POLL_MS);
  }
}

/**
 * Starts the home's daemon: by its service, where one is installed and the platform's manager
 * works, else in the background. Resolves when it answers. The caller holds the start lock.
 */
export async function startDaemon(home: Home): Promise<GatewayClient> {
  const manager = new ServiceManager(home, process.env);
  if (manager.isInstalled()) {
    const started = await manager.start();
    if (started.kind === "done") return await untilAnswers(home);
    sayAside(
      `the service did not start (${started.reason}); the daemon runs without it, and ` +
        "`memsync uninstall` takes the service away",
    );
  }
  return await startInBackground(home);
}

/**
 * Starts a process in a session of its own. It outlives this one and shares no open file with it.
 */
export async function startInBackground(home: Home): Promise<GatewayClient> {
  const log = openLog(home);
  const said = statSync(home.log).size;
  const [program = "", ...args] = selfCommand();
  const child = spawn(program, [...args, "daemon", "--started", "background"], {
    cwd: "/",
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...RUNTIME_ENVIRONMENT, ...process.env, MEMSYNC_HOME: home.dir },
    windowsHide: true,
  });
  closeSync(log);
  await Promise.race([once(child, "spawn"), failure(child)]);
  child.unref();
  return await untilAnswers(home, () => {
    // An end with 0 means that it found another daemon.
    if (child.exitCode === 0 || (child.exitCode ?? child.signalCode) === null) return;
    throw notStarted(home, said);
  });
}

function openLog({ log }: Home): number {
  try {
    return openLogFile(log);
  } catch (thrown) {
    throw new CommandFailed(`the daemon's log ${log} can't be written: ${fileFailure(thrown)}`);
  }
}

async function failure(child: ChildProcess): Promise<never> {
  const [error] = await once(child, "error");
  throw new CommandFailed(`the daemon did not start: ${messageOf(error)}`);
}

/** Resolves to the daemon once it answers; `look` may throw why none will. */
export async function untilAnswers(home: Home, look = () => {}): Promise<GatewayClient> {
  return await shownWhile("starting the daemon", askUntilAnswers(home, look));
}

async function askUntilAnswers(home: Home, look: () => void): Promise<GatewayClient> {
  const deadline = realWorld.monotonic() + START_DEADLINE_MS;
  while (realWorld.monotonic() < deadline) {
    const daemon = await contactDaemon(home);
    if (daemon) return daemon;
    look();
    await delay(realWorld, POLL_MS);
  }
  throw new CommandFailed("the daemon does not answer yet: `memsync logs` shows what it does", {
    code: "daemon-silent",
  });
}

/** Tells the last lines that were logged after the log had `said` bytes. */
function notStarted(home: Home, said: number): CommandFailed {
  const text = readFileSync(home.log);
  const fresh = text.subarray(text.length >= said ? said : 0).toString("utf8");
  const lines = fresh.split("\n").filter((line) => line.trim() !== "");
  const words = lastWords(lines.slice(-LAST_LINES));
  const why = words.length > 1 ? "it said" : (words[0] ?? whyNothing(home));
  const further = words.length > 1 ? words.map((each) => `  ${each}`) : [];
  return new CommandFailed(`the daemon did not start: ${why}`, { further });
}

/** A daemon whose disk is full has no place to say so. */
function whyNothing({ dir, log }: Home): string {
  return storageFailure(noRoomAt(dir), dir) ?? `it said nothing; see ${log}`;
}
