import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Command } from "commander";
import { startEmulator } from "../../daemon/embedded/emulator-program.ts";
import { messageOf } from "../../shared/errors.ts";
import { makeScratchFolder, type Remains } from "../contact/scratch-folder.ts";
import { takesEmpty } from "../place/empty-arguments.ts";
import { endAfterThis } from "../place/end-after-this.ts";
import type { Environment } from "../place/environment.ts";
import { launcherEnd } from "../place/launcher-end.ts";
import { resolveFolder } from "../place/resolve-folder.ts";
import { CommandEnded, UsageError } from "../screen/errors.ts";
import { sayAside } from "../screen/output.ts";

interface ExecFlags {
  readonly plan: string;
  readonly limits: string;
  readonly seed?: string;
  readonly publishedOnly?: boolean;
  readonly random?: string;
  readonly strict?: boolean;
}

const HELP = `
The command is given MEMSYNC_URL, MEMSYNC_TOKEN and an empty MEMSYNC_HOME; afterwards the emulator,
the folder and a daemon that was started in it are gone; where exec itself is killed, the command
gets SIGTERM, and the next exec does the rest. Ends with the command's exit status, as a shell has
it: 127 where there is no such command, 128 and the signal's number where one ended it.

Examples:
  memsync exec -- npm test
  memsync exec --limits off --seed tests/seed -- pytest -x tests/
  memsync exec -- sh -c 'curl --oauth2-bearer $MEMSYNC_TOKEN $MEMSYNC_URL/v1/projects'`;

const FAILED = 1;
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;
const SIGNALLED = 128;
const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** `exec`: runs a command with an emulator of its own. */
export function addExecCommand(program: Command, env: Environment): void {
  takesEmpty(program.command("exec <command...>"), "command")
    .description("run a command with an emulator of its own, and a home that is gone afterwards")
    .option("--plan <plan>", "plan of the accounts behind mst_dev_NAME: pro or team", "pro")
    .option("--limits <on|off>", "hold requests to the plans' limits", "on")
    .option("--seed <path>", "write into the Pro account what an export has, or a folder")
    .option("--published-only", "serve the published specification and nothing else")
    .option("--random <seed>", "have ids repeat for a seed")
    .option("--strict", "report what goes beyond the specification as a violation")
    .addHelpText("after", HELP)
    .passThroughOptions()
    .action((command: readonly string[], flags: ExecFlags) => exec(env, command, flags));
}

async function exec(env: Environment, command: readonly string[], flags: ExecFlags): Promise<void> {
  const { plan, limits, publishedOnly = false, strict = false } = flags;
  if (plan !== "pro" && plan !== "team") throw new UsageError("--plan is pro or team");
  if (limits !== "on" && limits !== "off") throw new UsageError("--limits is on or off");
  const seed = flags.seed === undefined ? {} : { seed: resolveFolder(env, flags.seed) };
  const random = flags.random === undefined ? {} : { random: flags.random };
  const emulator = await startEmulator({ plan, limits, publishedOnly, strict, ...seed, ...random });
  try {
    const scratch = await makeScratchFolder("exec");
    let remains: Remains | undefined;
    let status: number;
    try {
      const variables = {
        ...env.variables,
        MEMSYNC_URL: emulator.url,
        MEMSYNC_TOKEN: emulator.token,
        MEMSYNC_HOME: scratch.home.dir,
      };
      status = await run(command, { ...env, variables });
    } finally {
      remains = await scratch.clear();
      if (remains) sayAside(remains.why);
    }
    // The command's own status is what counts, unless that would hide that something runs on.
    if (status === 0 && remains?.isInUse) throw new CommandEnded(FAILED);
    if (status !== 0) throw new CommandEnded(status);
  } finally {
    await emulator.close();
  }
}

/** Runs the command; resolves to its exit status as a shell reports it. */
async function run(
  [program = "", ...args]: readonly string[],
  { dir: cwd, variables, launcherPipe }: Environment,
): Promise<number> {
  let child: ChildProcess | undefined;
  const passOn = (signal: NodeJS.Signals) => {
    // Keys typed at a terminal signal every process there, so the command has it already.
    const isTyped = process.stdin.isTTY && (signal === "SIGINT" || signal === "SIGQUIT");
    if (!isTyped) child?.kill(signal);
  };
  // Before the command starts, so that a signal during its start reaches it, too.
  for (const signal of PASSED_ON) process.on(signal, passOn);
  try {
    const started = spawn(program, args, { cwd, env: { ...variables }, stdio: "inherit" });
    child = started;
    const isOver = endAfterThis(started);
    started.once("exit", isOver);
    // As if this process had been asked to end, which nobody can do for it any more.
    void launcherEnd(launcherPipe).then(() => started.kill("SIGTERM"));
    return await new Promise<number>((resolve, reject) => {
      started.once("error", (thrown) => reject(failureOf(program, thrown)));
      started.once("exit", (status, signal) => {
        resolve(signal ? SIGNALLED + constants.signals[signal] : (status ?? 1));
      });
    });
  } finally {
    for (const signal of PASSED_ON) process.off(signal, passOn);
  }
}

function failureOf(program: string, thrown: Error): CommandEnded {
  const code = "code" in thrown ? thrown.code : undefined;
  const isMissing = code === "ENOENT";
  const why = isMissing
    ? "there is no such command"
    : code === "EACCES"
      ? "it is no program, or may not be run"
      : messageOf(thrown);
  const status = isMissing ? NOT_FOUND : NOT_RUNNABLE;
  return new CommandEnded(status, `${program} can't be run: ${why}`);
}
