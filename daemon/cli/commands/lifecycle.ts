import { existsSync, statSync } from "node:fs";
import { type Command, Option } from "commander";
import type { Started } from "../../service/introduction.ts";
import { type Environment, readEnvironment } from "../environment.ts";
import { CommandFailed, UsageError } from "../errors.ts";
import { NO_DAEMON } from "../get-daemon.ts";
import { findDaemon } from "../gateway-client.ts";
import { say, sayJson } from "../output.ts";
import { restartDaemon } from "../replace-daemon.ts";
import { resolveFolder } from "../resolve-folder.ts";
import { runDaemon } from "../run-daemon.ts";
import { inStartTurn, startDaemon } from "../start-daemon.ts";
import { findOccupant, killSilent, stopDaemon } from "../stop-daemon.ts";
import { takeHome } from "../take-home.ts";
import { linkAndLook, settledStatus, show } from "./up.ts";

interface JsonOption {
  readonly json?: boolean;
}

interface DaemonFlags {
  readonly started: Started;
  readonly home?: string;
  readonly url?: string;
  readonly checkSeconds?: string;
}

/** `start`, `stop` and `restart`, and what they start. */
export function addLifecycleCommands(program: Command, env: Environment): void {
  program
    .command("start [dirs...]")
    .description("run the daemon in the background, and follow these projects, if any are named")
    .option("--json", "print the status as JSON")
    .action((dirs: string[], options: JsonOption) => start(env, dirs, options));
  program
    .command("stop")
    .description("end the daemon, and wait until it has")
    .option("--json", "print how it ended as JSON")
    .action((options: JsonOption) => stop(env, options));
  program
    .command("restart")
    .description("end the daemon and start it again; starts one where none runs")
    .option("--json", "print the status as JSON")
    .action((options: JsonOption) => restart(env, options));
  program
    .command("daemon", { hidden: true })
    .addOption(
      new Option("--started <how>").choices(["background", "service"]).makeOptionMandatory(),
    )
    .option("--home <dir>", "instead of MEMSYNC_HOME, where there is no environment to set")
    .option("--url <url>", "instead of MEMSYNC_URL")
    .option("--check-seconds <seconds>", "time between two looks at itself")
    .action((flags: DaemonFlags) => runAsTold(env, flags));
}

async function start(env: Environment, dirs: string[], options: JsonOption): Promise<void> {
  const { home } = env;
  const folders = dirs.map((dir) => folderAt(env, dir));
  const { daemon, ran } = await inStartTurn(home, async () => {
    const occupant = await findOccupant(home);
    if (occupant.kind === "daemon") return { daemon: occupant.daemon, ran: true };
    if (occupant.kind === "silent") await killSilent(home, occupant.holder);
    return { daemon: await startDaemon(home), ran: false };
  });
  const running = ran ? ((await findDaemon(home)) ?? daemon) : daemon;
  const headline = ran ? "memsync is running already" : "memsync runs in the background";
  if (folders.length === 0) {
    await show(env, await settledStatus(running), headline, options);
    return;
  }
  const linked = await linkAndLook(running, folders);
  await show(env, linked, ran ? `${headline}; linked there` : headline, options);
}

/** Looked at before anything is started. */
function folderAt(env: Environment, dir: string): string {
  const folder = resolveFolder(env, dir);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new CommandFailed(`${folder} is not a folder`);
}

async function stop({ home }: Environment, { json }: JsonOption): Promise<void> {
  // Whoever never had a daemon is not given a home by this.
  if (!existsSync(home.lock)) throw new CommandFailed(NO_DAEMON);
  await inStartTurn(home, async () => {
    const occupant = await findOccupant(home);
    if (occupant.kind === "nobody") throw new CommandFailed(NO_DAEMON);
    if (occupant.kind === "silent") {
      await killSilent(home, occupant.holder);
      if (json) sayJson({ stopped: true, killed: true });
      else say("memsync did not answer and was killed; what was saved is on the disk");
      return;
    }
    await stopDaemon(home, occupant.daemon);
    if (json) sayJson({ stopped: true, killed: false });
    else say("memsync has ended");
  });
}

async function restart(env: Environment, options: JsonOption): Promise<void> {
  const { home } = env;
  const daemon = await inStartTurn(home, async () => {
    const occupant = await findOccupant(home);
    if (occupant.kind === "daemon") return await restartDaemon(home, occupant.daemon);
    if (occupant.kind === "silent") await killSilent(home, occupant.holder);
    return await startDaemon(home);
  });
  await show(env, await settledStatus(daemon), "memsync has started again", options);
}

async function runAsTold(env: Environment, flags: DaemonFlags): Promise<void> {
  const { home, url, started } = flags;
  const told = readEnvironment({
    ...env.variables,
    ...(home !== undefined && { MEMSYNC_HOME: home }),
    ...(url !== undefined && { MEMSYNC_URL: url }),
  });
  const seconds = Number(flags.checkSeconds ?? Number.NaN);
  if (flags.checkSeconds !== undefined && !(seconds > 0)) {
    throw new UsageError("--check-seconds is a number of seconds");
  }
  const lock = await takeHome(told.home);
  if (!lock) {
    say("memsync is running already");
    return;
  }
  await runDaemon(lock, {
    env: told,
    started,
    onUp: async () => {},
    ...(seconds > 0 && { checkIntervalMs: seconds * 1000 }),
  });
}
