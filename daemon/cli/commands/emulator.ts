import { type Command, Option } from "commander";
import { LOG_LEVELS, type LogLevel, runEmulator } from "../../embedded-service.ts";
import type { Environment } from "../environment.ts";
import { UsageError } from "../errors.ts";
import { say } from "../output.ts";
import { resolveFolder } from "../resolve-folder.ts";

const EMULATOR_PORT = "4777";
const PORT_MAX = 65_535;

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
}

/** `emulator`: the service for tests, and for trying things. */
export function addEmulatorCommand(program: Command, env: Environment): void {
  withAddress(program.command("emulator"))
    .description("run the cloud service's emulator, in memory unless given a folder")
    .option("--data-dir <dir>", "keep the data in this folder")
    .option("--memory", "keep nothing (the default)")
    .option("--plan <plan>", "plan of the accounts behind mst_dev_NAME: pro or team", "pro")
    .option("--limits <on|off>", "hold requests to the plans' limits", "on")
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
      await runEmulator(
        {
          ...addressOf(flags),
          publishedOnly: flags.publishedOnly === true,
          plan: flags.plan,
          logLevel: flags.logLevel,
          limits: flags.limits,
          ...(flags.dataDir !== undefined && { dataDir: resolveFolder(env, flags.dataDir) }),
        },
        (url) => say(`memsync emulator ready at ${url}`),
      );
    });
}

function withAddress(command: Command): Command {
  return command
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 takes any free one", EMULATOR_PORT)
    .option("--published-only", "serve the published specification and nothing else");
}

function addressOf({ host, port }: ListenFlags): { host: string; port: number } {
  const number = Number(port);
  if (!/^\d{1,5}$/.test(port) || number > PORT_MAX) {
    throw new UsageError(`--port is a number from 0 to ${PORT_MAX}`);
  }
  return { host, port: number };
}
