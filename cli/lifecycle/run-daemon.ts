import { type SpawnOptions, spawn } from "node:child_process";
import { closeSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import pino from "pino";
import { folderSources } from "../../daemon/assistants/memory-folders/folder-sources.ts";
import { assistantsOf } from "../../daemon/assistants/sessions/assistants.ts";
import type { Daemon, DaemonOptions } from "../../daemon/daemon.ts";
import { killRunningGit } from "../../daemon/git/run-git.ts";
import { secretHider } from "../../daemon/held/secret-scan.ts";
import type { OnActivity } from "../../daemon/home/activity.ts";
import type { Home } from "../../daemon/home/home.ts";
import { KeptDaemon } from "../../daemon/kept-daemon.ts";
import { openKeyring } from "../../daemon/remotes/keyring.ts";
import { removeRecord, writeRecord } from "../../daemon/supervise/daemon-record.ts";
import { introduce, type Started } from "../../daemon/supervise/introduction.ts";
import { loadReleaseCode } from "../../daemon/supervise/program-code.ts";
import { openLogFile, RotatingFile } from "../../daemon/supervise/rotating-file.ts";
import { selfCommand } from "../../daemon/supervise/self-command.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import { hidingLog, type Log } from "../../shared/log.ts";
import { unforeseen } from "../../shared/sqlite/failures.ts";
import type { Lock } from "../../shared/sqlite/lock.ts";
import { VERSION } from "../../shared/version.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { watchOver } from "../contact/watch-over.ts";
import type { Notices } from "../notices/notice.ts";
import { NoticeKeeper } from "../notices/notice-keeper.ts";
import type { Environment } from "../place/environment.ts";
import { gatewayPort } from "../place/gateway-port.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { CommandFailed } from "../screen/errors.ts";
import { COULD_NOT_START } from "../screen/log-view.ts";

/** How a daemon's process is to run. */
export interface DaemonRun {
  readonly env: Environment;
  readonly started: Started;
  readonly onBegin?: DaemonOptions["onBegin"];
  /** Called when it answers, as a part of its start. */
  readonly onUp: (daemon: Daemon, running: Running) => Promise<void>;
  /** Called with each event from then on. */
  readonly onActivity?: OnActivity | undefined;
  /** Called when it is about to end, for whatever reason. */
  readonly onEnding?: (() => void) | undefined;
  /** Time between two of its checks of itself. */
  readonly checkIntervalMs?: number;
}

/** What a daemon's process offers to a screen. */
export interface Running {
  /** A new one after a rebuild. Throws during the rebuild. */
  readonly daemon: () => Daemon;
  readonly notices: () => Notices;
}

/** An ordered end takes at most this long. Everything acknowledged is on the disk before. */
const END_DEADLINE_MS = 1500;
const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Locks that the operating system releases when the process ends. So whoever waits for the lock
 * waits for the end of the process.
 */
const heldToTheEnd = new Set<Lock>();

/** Why a daemon's process ends. */
type End =
  | { readonly kind: "asked"; readonly by: string }
  | { readonly kind: "sick"; readonly reason: string }
  | { readonly kind: "failed"; readonly thrown: unknown };

/**
 * Runs the daemon in this process until a signal or a command ends it. The caller holds the home's
 * lock, which the process keeps to its end. Rejects with what kept the daemon from running, or when
 * only a restart helps; in the background that restart is under way then.
 *
 * ```
 * const lock = await takeHome(env.home);
 * if (lock) await runDaemon(lock, { env, started: "background", onUp });
 * ```
 */
export async function runDaemon(lock: Lock, run: DaemonRun): Promise<void> {
  const { started } = run;
  const { home } = run.env;
  heldToTheEnd.add(lock);
  writeRecord(home, { pid: process.pid, started, ready: false });
  const log = await openLog(home);
  const running = new RunningDaemon(run, log);
  const end = await running.untilEnd();
  run.onEnding?.();
  logEnd(log, end, home);
  await running.stop();
  removeRecord(home);
  if (end.kind === "failed") throw end.thrown;
  if (end.kind === "sick") startAgain(run, end.reason);
}

class RunningDaemon {
  readonly #run: DaemonRun;
  readonly #log: Log;
  readonly #notices: NoticeKeeper;
  #kept: KeptDaemon | undefined;
  #unwatch: (() => void) | undefined;

  constructor(run: DaemonRun, log: Log) {
    this.#run = run;
    this.#log = log;
    const onActivity: OnActivity = (activity) => run.onActivity?.(activity);
    this.#notices = new NoticeKeeper({
      env: run.env,
      log,
      reader: () => this.#kept?.reader,
      onActivity,
    });
  }

  untilEnd(): Promise<End> {
    return new Promise((resolve) => {
      for (const signal of ENDING_SIGNALS) {
        process.once(signal, () => resolve({ kind: "asked", by: signal }));
      }
      this.#start(resolve).catch((thrown) => resolve({ kind: "failed", thrown }));
    });
  }

  async #start(onEnd: (end: End) => void): Promise<void> {
    const { env, started, onBegin, onUp, onActivity } = this.#run;
    const { home, variables } = env;
    const log = this.#log;
    const releaseCode = await loadReleaseCode();
    const kept = await KeptDaemon.start({
      home,
      world: realWorld,
      log,
      introduction: introduce(started, variables),
      openEmbedded: async () => {
        // Most daemons have a service elsewhere, and need nothing of the server's start.
        const { openEmbeddedService } = await import("../../daemon/embedded/embedded-service.ts");
        return await openEmbeddedService(home.service, realWorld, log);
      },
      environment: remoteEnvironment(env),
      gatewayPort: gatewayPort(env),
      keyring: openKeyring({ env: variables }),
      onBegin,
      onStopRequest: () => onEnd({ kind: "asked", by: "a command" }),
      shrinkRuntime() {
        Bun.shrink();
        releaseCode?.();
      },
      onFailure: (thrown) => onEnd({ kind: "failed", thrown }),
      onActivity,
      onCommit: () => this.#notices.changed(),
      assistants: assistantsOf(homedir(), variables),
      memoryFolders: (git) => folderSources(git, { userFolder: homedir(), variables }),
    });
    this.#kept = kept;
    this.#notices.changed();
    writeRecord(home, { pid: process.pid, started, ready: true });
    log.info({ version: VERSION, pid: process.pid, started }, "the daemon is up");
    this.#unwatch = await watchOver({
      home,
      started,
      ...(this.#run.checkIntervalMs !== undefined && { intervalMs: this.#run.checkIntervalMs }),
      onSick: (reason) => onEnd({ kind: "sick", reason }),
    });
    await onUp(kept.daemon, {
      daemon: () => kept.daemon,
      notices: () => this.#notices.current,
    });
  }

  /** Ends in order, or without order after the deadline. */
  async stop(): Promise<void> {
    this.#unwatch?.();
    this.#notices.stop();
    killRunningGit();
    const stopped = Promise.resolve(this.#kept?.stop()).then(() => true);
    const late = delay(realWorld, END_DEADLINE_MS).then(() => false);
    const inOrder = await Promise.race([stopped, late]);
    if (!inOrder) {
      this.#log.warn({}, "the daemon ends with something still under way");
      rmSync(this.#run.env.home.socket, { force: true });
    }
    killRunningGit();
  }
}

/**
 * The log hides secrets, because a folder, or a project named after it, may have one in its name.
 */
async function openLog({ log }: Home): Promise<Log> {
  const hide = await secretHider();
  try {
    return hidingLog(pino({ base: null }, new RotatingFile(log)), hide);
  } catch (thrown) {
    throw new CommandFailed(`the daemon's log ${log} can't be written: ${fileFailure(thrown)}`);
  }
}

function logEnd(log: Log, end: End, home: Home): void {
  if (end.kind === "asked") log.info({ by: end.by }, "the daemon ends");
  else if (end.kind === "sick") log.error({ reason: end.reason }, "the daemon starts again");
  else {
    const reason = unforeseen(end.thrown, home.dir);
    log.error({ ...COULD_NOT_START, reason }, "the daemon could not start");
  }
}

/** In the background nothing else would restart it. */
function startAgain({ env: { home }, started }: DaemonRun, reason: string): void {
  if (started !== "background") throw new CommandFailed(`the daemon ends, because ${reason}`);
  const log = openLogFile(home.log);
  const [program = "", ...args] = selfCommand();
  const options: SpawnOptions = {
    cwd: "/",
    detached: true,
    stdio: ["ignore", log, log],
    env: process.env,
  };
  spawn(program, [...args, ...process.argv.slice(2)], options).unref();
  closeSync(log);
}
