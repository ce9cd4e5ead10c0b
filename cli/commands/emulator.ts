import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import {
  callableHost,
  LOG_LEVELS,
  type LogLevel,
  runEmulator,
} from "../../daemon/embedded/emulator-program.ts";
import { parseServiceUrl } from "../../daemon/home/remote.ts";
import { assertExportable, writeExport } from "../contact/write-export.ts";
import type { Environment } from "../place/environment.ts";
import { launcherEnd } from "../place/launcher-end.ts";
import { resolveFolder } from "../place/resolve-folder.ts";
import { CommandFailed, typed, UsageError } from "../screen/errors.ts";
import { say, sayCommand, sayJson, saySentence } from "../screen/output.ts";

const EMULATOR_PORT = "4777";
const PORT_MAX = 65_535;
const EMULATOR_TOKEN = "mst_dev_pro";
const ANSWER_DEADLINE_MS = 3000;

const HELP = `
It knows the tokens mst_dev_pro, mst_dev_team and mst_dev_readonly, and mst_dev_NAME for any other
NAME, each an empty account of its own. A page at /_emulator/ shows what comes to it, and has its
faults, clock, limits, snapshots and reset.

Examples:
  memsync emulator                              in memory, on port 4777
  memsync emulator --port 0 --limits off
  memsync emulator --data-dir ./emulator-data   keeps what it is given
  memsync emulator --seed seed.json --export-on-exit after.json
  memsync emulator --seed tests/seed            a folder: PROJECT/KEY.md, user/KEY.md, FILE.json`;

const ENV_HELP = `
Examples:
  eval "$(memsync emulator env)"          memsync emulator env | source   in fish
  memsync emulator env --port 5000 --json`;

interface ListenFlags {
  readonly host: string;
  readonly port: string;
  readonly publishedOnly?: boolean;
}

const HEALTH_HELP = `
Examples:
  memsync emulator health && npm test
  memsync emulator health --port 5000 --json
  memsync emulator health --url "$MEMSYNC_URL"`;

interface EmulatorFlags extends ListenFlags {
  readonly seed?: string;
  readonly exportOnExit?: string;
  readonly endWithStdin?: boolean;
  readonly allowHost?: readonly string[];
  readonly random?: string;
  readonly strict?: boolean;
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
  addHealthCommand(emulator);
  withPublishedOnly(withAddress(emulator))
    .description("run the cloud service's emulator, in memory unless given a folder")
    .option("--data-dir <dir>", "keep the data in this folder")
    .option("--memory", "keep nothing (the default)")
    .option("--plan <plan>", "plan of the accounts behind mst_dev_NAME: pro or team", "pro")
    .option("--limits <on|off>", "hold requests to the plans' limits", "on")
    .option("--seed <path>", "write into the Pro account what an export has, or a folder")
    .option("--export-on-exit <file>", "write the Pro account as an export when it ends")
    .option("--end-with-stdin", "end with its standard input, so with whoever started it")
    .option("--random <seed>", "have ids repeat for a seed")
    .option("--strict", "report what goes beyond the specification as a violation")
    .option("--allow-host <host...>", "further names that requests may call it by")
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
      const after =
        flags.exportOnExit === undefined ? undefined : resolveFolder(env, flags.exportOnExit);
      if (after !== undefined) await assertExportable(after);
      const dataDir = flags.dataDir === undefined ? undefined : resolveFolder(env, flags.dataDir);
      const given = env.variables[CONTROL_TOKEN] || undefined;
      const isNew = dataDir === undefined || !existsSync(dataDir);
      await runEmulator(
        {
          ...addressOf(flags),
          publishedOnly: flags.publishedOnly === true,
          plan: flags.plan,
          logLevel: flags.logLevel,
          limits: flags.limits,
          strict: flags.strict === true,
          ...(dataDir !== undefined && { dataDir }),
          over: Promise.race([
            launcherEnd(env.launcherPipe),
            ...(flags.endWithStdin ? [endOf(process.stdin)] : []),
          ]),
          ...(flags.random !== undefined && { random: flags.random }),
          ...(flags.allowHost && { allowedHosts: flags.allowHost }),
          ...(flags.seed !== undefined && { seed: resolveFolder(env, flags.seed) }),
          ...(given !== undefined && { controlToken: given }),
        },
        ({ url, controlToken }) => {
          const made = given === undefined ? controlToken : undefined;
          if (flags.json) {
            sayJson({ ...variablesOf(url), ...(made && { [CONTROL_TOKEN]: made }) });
            return;
          }
          saySentence(`memsync emulator ready at ${url}`);
          if (listensOnAll(flags)) saySentence("it listens on all addresses of this machine");
          saySentence(`its live page is ${url}/_emulator/`);
          if (made !== undefined) saySentence(`control calls need this token: ${made}`);
          if (!isNew) return;
          sayCommand(`a daemon: MEMSYNC_URL=${url} MEMSYNC_TOKEN=${EMULATOR_TOKEN} memsync up`);
        },
        async (emulator) => {
          if (after !== undefined) await writeExport(after, await emulator.export());
        },
      );
    });
}

/** A pipe ends when the last process that may write into it does, however that ended. */
function endOf(input: NodeJS.ReadStream): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) input.once(event, () => resolve());
    input.resume();
  });
}

/** The token for control calls, where it is asked for; one is made where it is not set. */
const CONTROL_TOKEN = "MEMSYNC_EMULATOR_TOKEN";

/** `emulator health`: for a container's HEALTHCHECK, and for scripts. */
function addHealthCommand(emulator: Command): void {
  emulator
    .command("health")
    .description("say whether an emulator answers; the exit status says it, too")
    .option("--host <host>", "address that it listens on", "127.0.0.1")
    .option("--port <port>", "port that it listens on", EMULATOR_PORT)
    .option("--url <url>", "the address that it printed, instead of host and port")
    .option("--json", "print what it says of itself as JSON")
    .addHelpText("after", HEALTH_HELP)
    .action((_: unknown, command: Command) => printHealth(command.opts()));
}

interface HealthFlags extends ListenFlags {
  readonly url?: string;
  readonly json?: boolean;
}

async function printHealth(flags: HealthFlags): Promise<void> {
  const url =
    flags.url === undefined ? urlOf(flags) : typed(() => parseServiceUrl(flags.url ?? "", "--url"));
  const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS);
  const response = await fetch(`${url}/_emulator/health`, { signal }).catch(() => undefined);
  const health: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined;
  if (!health) throw noEmulator(url);
  if (flags.json) sayJson(health);
  else saySentence(`memsync emulator answers at ${url}`);
}

function noEmulator(url: string): CommandFailed {
  return new CommandFailed(`no emulator answers at ${url}: start one with \`memsync emulator\``, {
    code: "not-found",
  });
}

function listensOnAll({ host }: ListenFlags): boolean {
  return host === "0.0.0.0" || host === "::";
}

function urlOf(flags: ListenFlags): string {
  const { host: listened, port } = addressOf(flags);
  const host = callableHost(listened);
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
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
  const url = urlOf(flags);
  const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS);
  const headers = { authorization: `Bearer ${EMULATOR_TOKEN}` };
  const response = await fetch(`${url}/v1/projects`, { headers, signal }).catch(() => undefined);
  await response?.body?.cancel();
  if (!response?.ok) throw noEmulator(url);
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
