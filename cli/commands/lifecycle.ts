import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import type { Home } from "../../daemon/home/home.ts";
import type { Started } from "../../daemon/supervise/introduction.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import { restartDaemon } from "../contact/replace-daemon.ts";
import { inStartTurn, startDaemon } from "../contact/start-daemon.ts";
import { findOccupant, inEndTurn, killSilent, stopDaemon } from "../contact/stop-daemon.ts";
import { takeHome } from "../contact/take-home.ts";
import { runDaemon } from "../lifecycle/run-daemon.ts";
import { lookBefore, sayOfRunning } from "../lifecycle/shell-service.ts";
import { type Environment, readEnvironment } from "../place/environment.ts";
import { UsageError } from "../screen/errors.ts";
import { say, sayJson, saySentence } from "../screen/output.ts";
import { contactedStatus, foldersOf, linkAndLook, show } from "./up.ts";

interface JsonOption {
  readonly json?: boolean;
}

interface DaemonFlags {
  readonly started: Started;
  readonly home?: string;
  readonly url?: string;
  readonly gatewayPort?: string;
  readonly checkSeconds?: string;
}

/** `start`, `stop` and `restart`, and the hidden command that they start. */
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
    .option("--gateway-port <port>", "instead of MEMSYNC_GATEWAY_PORT")
    .option("--check-seconds <seconds>", "time between two looks at itself")
    .action((flags: DaemonFlags) => runAsTold(env, flags));
}

async function start(env: Environment, dirs: string[], options: JsonOption): Promise<void> {
  const { home } = env;
  const folders = dirs.length === 0 ? [] : await foldersOf(env, dirs);
  const before = await lookBefore(env);
  const { daemon, ran } = await inStartTurn(home, async () => {
    const occupant = await findOccupant(home);
    if (occupant.kind === "daemon") return { daemon: occupant.daemon, ran: true };
    if (occupant.kind === "silent") await killSilent(home, occupant.holder);
    return { daemon: await startDaemon(home), ran: false };
  });
  const running = ran ? ((await findDaemon(home)) ?? daemon) : daemon;
  if (ran) sayOfRunning(env, running.introduction);
  const headline = ran ? "memsync is running already" : "memsync runs in the background";
  if (folders.length === 0) {
    await show(env, await contactedStatus(running), { ...options, before, headline });
    return;
  }
  const linked = await linkAndLook(running, folders);
  const said = ran ? `${headline}; linked there` : headline;
  await show(env, linked, { ...options, before, headline: said });
}

/** Succeeds also where no daemon ran, because that is what was asked for. */
async function stop({ home }: Environment, { json }: JsonOption): Promise<void> {
  // `stop` creates no home where there never was one.
  const ended = existsSync(home.lock) ? await inEndTurn(home, () => endOccupant(home)) : "none";
  if (json) sayJson({ stopped: ended !== "none", killed: ended === "killed" });
  else say(ENDED[ended]);
}

const ENDED = {
  none: "no daemon was running",
  killed: "memsync did not answer and was killed; what was saved is on the disk",
  stopped: "memsync has ended",
} as const;

async function endOccupant(home: Home): Promise<keyof typeof ENDED> {
  const occupant = await findOccupant(home);
  if (occupant.kind === "nobody") return "none";
  if (occupant.kind === "silent") {
    await killSilent(home, occupant.holder);
    return "killed";
  }
  await stopDaemon(home, occupant.daemon);
  return "stopped";
}

async function restart(env: Environment, options: JsonOption): Promise<void> {
  const { home } = env;
  const before = await lookBefore(env);
  const daemon = await inStartTurn(home, async () => {
    const occupant = await findOccupant(home);
    if (occupant.kind === "daemon") return await restartDaemon(home, occupant.daemon);
    if (occupant.kind === "silent") await killSilent(home, occupant.holder);
    return await startDaemon(home);
  });
  await show(env, await contactedStatus(daemon), {
    ...options,
    before,
    headline: "memsync has started again",
  });
}

async function runAsTold(env: Environment, flags: DaemonFlags): Promise<void> {
  const { home, url, gatewayPort, started } = flags;
  const told = readEnvironment({
    ...env.variables,
    ...(home !== undefined && { MEMSYNC_HOME: home }),
    ...(url !== undefined && { MEMSYNC_URL: url }),
    ...(gatewayPort !== undefined && { MEMSYNC_GATEWAY_PORT: gatewayPort }),
  });
  const seconds = Number(flags.checkSeconds ?? Number.NaN);
  if (flags.checkSeconds !== undefined && !(seconds > 0)) {
    throw new UsageError("--check-seconds is a number of seconds");
  }
  const lock = await takeHome(told.home);
  if (!lock) {
    saySentence("memsync is running already");
    return;
  }
  await runDaemon(lock, {
    env: told,
    started,
    onUp: async () => {},
    ...(seconds > 0 && { checkIntervalMs: seconds * 1000 }),
  });
}
