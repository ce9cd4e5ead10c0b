import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { LOG_LEVELS, type LogLevel, runEmulator } from "../../daemon/embedded/embedded-service.ts";
import type { Environment } from "../place/environment.ts";
import { resolveFolder } from "../place/resolve-folder.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { say, sayCommand, sayJson } from "../screen/output.ts";

const EMULATOR_PORT = "4777";
const PORT_MAX = 65_535;
const EMULATOR_TOKEN = "mst_dev_pro";
const ANSWER_DEADLINE_MS = 3000;

const HELP = `
It knows the tokens mst_dev_pro, mst_dev_team and mst_dev_readonly, and mst_dev_NAME for any other
NAME, each an empty account of its own.

Examples:
  memsync emulator                              in memory, on port 4777
  memsync emulator --port 0 --limits off
  memsync emulator --data-dir ./emulator-data   keeps what it is given`;

const ENV_HELP = `
Examples:
  eval "$(memsync emulator env)"
  memsync emulator env --port 5000 --json`;

interface ListenFlags {
  readonly host: string;
  readonly port: string;
  readonly publishedOnly?: boolean;
}

interface EmulatorFlags extends ListenFlags {
  readonly dataDir?: string;
  readonly memory?: boolean;
  readonly plan: string;
  readonly limits: string;
  readonly logLevel: LogLevel;
  readonly json?: boolean;
}

/** `emulator`: the service for tests, and for trying things. */
export function addEmulatorCommand(program: Command, env: Environment): void {
  const emulator = program.command("emulator").enablePositionalOptions();
  addEnvCommand(emulator);
  withPublishedOnly(withAddress(emulator))
    .description("run the cloud service's emulator, in memory unless given a folder")
    .option("--data-dir <dir>", "keep the data in this folder")
    .option("--memory", "keep nothing (the default)")
    .option("--plan <plan>", "plan of the accounts behind mst_dev_NAME: pro or team", "pro")
    .option("--limits <on|off>", "hold requests to the plans' limits", "on")
    .option("--json", "print the address and a token as JSON, once it is ready")
    .addHelpText("after", HELP)
    .addOption(
      new Option("--log-level <level>", "how much is logged to standard error")
        .choices(LOG_LEVELS)
        .default("warn"),
    )
    .action(async (flags: EmulatorFlags) => {
      if (flags.dataDir !== undefined && flags.memory) {
        throw new UsageError("--data-dir and --memory exclude each other");
      }
      if (flags.plan !== "pro" && flags.plan !== "team") {
        throw new UsageError("--plan is pro or team");
      }
      if (flags.limits !== "on" && flags.limits !== "off") {
        throw new UsageError("--limits is on or off");
      }
      const dataDir = flags.dataDir === undefined ? undefined : resolveFolder(env, flags.dataDir);
      const isNew = dataDir === undefined || !existsSync(dataDir);
      await runEmulator(
        {
          ...addressOf(flags),
          publishedOnly: flags.publishedOnly === true,
          plan: flags.plan,
          logLevel: flags.logLevel,
          limits: flags.limits,
          ...(dataDir !== undefined && { dataDir }),
        },
        (url) => {
          if (flags.json) {
            sayJson(variablesOf(url));
            return;
          }
          say(`memsync emulator ready at ${url}`);
          if (!isNew) return;
          sayCommand(`a daemon: MEMSYNC_URL=${url} MEMSYNC_TOKEN=${EMULATOR_TOKEN} memsync up`);
        },
      );
    });
}

function withAddress(command: Command): Command {
  return command
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 takes any free one", EMULATOR_PORT);
}

function withPublishedOnly(command: Command): Command {
  const what = "serve the published specification and nothing else";
  return command.option("--published-only", what);
}

/** `emulator env`: the variables by which a program finds the emulator. */
function addEnvCommand(emulator: Command): void {
  emulator
    .command("env")
    .description("print the address and token of a running emulator for a shell")
    .option("--host <host>", "address that it listens on", "127.0.0.1")
    .option("--port <port>", "port that it listens on", EMULATOR_PORT)
    .option("--json", "print them as JSON")
    .addHelpText("after", ENV_HELP)
    .action((_: unknown, command: Command) => printEnv(command.opts()));
}

async function printEnv(flags: ListenFlags & { readonly json?: boolean }): Promise<void> {
  const { host, port } = addressOf(flags);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS);
  const headers = { authorization: `Bearer ${EMULATOR_TOKEN}` };
  const response = await fetch(`${url}/v1/projects`, { headers, signal }).catch(() => undefined);
  await response?.body?.cancel();
  if (!response?.ok) {
    throw new CommandFailed(`no emulator answers at ${url}: start one with \`memsync emulator\``);
  }
  const variables = variablesOf(url);
  if (flags.json) sayJson(variables);
  else for (const [name, value] of Object.entries(variables)) say(`export ${name}=${value}`);
}

function variablesOf(url: string) {
  return { MEMSYNC_URL: url, MEMSYNC_TOKEN: EMULATOR_TOKEN };
}

function addressOf({ host, port }: ListenFlags): { host: string; port: number } {
  const number = Number(port);
  if (!/^\d{1,5}$/.test(port) || number > PORT_MAX) {
    throw new UsageError(`--port is a number from 0 to ${PORT_MAX}`);
  }
  return { host, port: number };
}
