import type { Command } from "commander";
import {
  databasePath,
  flagOf,
  type ReadSettings,
  readSettings,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  SettingsError,
  variableOf,
} from "../../daemon/embedded/embedded-service.ts";
import type { Environment } from "../place/environment.ts";
import { UsageError } from "../screen/errors.ts";

/** The server's settings from the command line, as commander names them. */
export type SettingFlags = Readonly<Record<string, string | true | undefined>> & {
  readonly config?: string | undefined;
};

/** Adds a flag for each of `names`, and `--config`. */
export function withSettings(
  command: Command,
  names: readonly SettingName[] = SETTING_NAMES,
): Command {
  command.option("--config <file>", "read settings from this JSON file (MEMSYNC_SERVER_CONFIG)");
  for (const name of names) {
    const { help, initial } = SETTINGS[name];
    const form = "form" in SETTINGS[name] ? ` <${SETTINGS[name].form}>` : "";
    const usual = initial === undefined || `${initial}` === "" ? "" : `; usually ${initial}`;
    command.option(`${flagOf(name)}${form}`, `${help} (${variableOf(name)}${usual})`);
  }
  return command;
}

/**
 * The configuration of a server. One `UsageError` names all its problems.
 *
 * ```
 * const { settings } = settingsOf(env, { port: "8080" });
 * ```
 */
export function settingsOf(env: Environment, flags: SettingFlags): ReadSettings {
  const written: Partial<Record<SettingName, string>> = {};
  for (const name of SETTING_NAMES) {
    const text = flags[camelCase(name)];
    if (text !== undefined) written[name] = String(text);
  }
  try {
    return readSettings(written, flags.config, {
      env: env.variables,
      dir: env.dir,
    });
  } catch (thrown) {
    if (!(thrown instanceof SettingsError)) throw thrown;
    const [first = "", ...others] = thrown.problems;
    throw new UsageError(
      first,
      others.map((problem) => `memsync: ${problem}`),
    );
  }
}

/** Adds the options that say where a host's database is; `databasePathOf` reads them. */
export function withDatabase(command: Command): Command {
  return withSettings(command, ["database_url"]);
}

/** The database's file, found as the server does. */
export function databasePathOf(env: Environment, flags: SettingFlags): string {
  return databasePath(settingsOf(env, flags).settings, env.dir);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
