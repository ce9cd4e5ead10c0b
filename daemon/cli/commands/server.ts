import type { Command } from "commander";
import {
  databasePath,
  runServer,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
} from "../../embedded-service.ts";
import type { Environment } from "../environment.ts";
import { say, sayJson, table } from "../output.ts";
import { type SettingFlags, settingsOf, withSettings } from "../server-settings.ts";
import { addBackupCommands } from "./backup.ts";
import { addHostCommands } from "./host.ts";

/** `server` and what is done to one. */
export function addServerCommands(program: Command, env: Environment): void {
  const server = program
    .command("server")
    .description("run the hosted server; flags go before variables, those before the file")
    // Its own options come before its commands, some of which have ones of the same name.
    .enablePositionalOptions();
  withSettings(server).action(async (flags: SettingFlags) => {
    const { settings } = settingsOf(env, flags);
    await runServer({ settings, path: databasePath(settings, env.dir) }, (url) =>
      say(`memsync server ready at ${url}`),
    );
  });
  withSettings(server.command("config"))
    .description("show the settings that the server would run with, and where each is from")
    .option("--json", "print them as JSON")
    .action((flags: SettingFlags & { json?: boolean }) => showSettings(env, flags));
  addBackupCommands(server, env);
  addHostCommands(server, env);
}

function showSettings(env: Environment, flags: SettingFlags & { json?: boolean }): void {
  const { settings, sources } = settingsOf(env, flags);
  const shown = (name: SettingName) => {
    const value = settings[name];
    if (value === undefined) return null;
    return "secret" in SETTINGS[name] ? "(set)" : value;
  };
  if (flags.json) {
    const entries = SETTING_NAMES.map((name) => [
      name,
      { value: shown(name), from: sources[name] },
    ]);
    sayJson(Object.fromEntries(entries));
    return;
  }
  const rows = SETTING_NAMES.map((name) => [name, `${shown(name) ?? ""}` || "-", sources[name]]);
  for (const line of table(rows)) say(line);
}
