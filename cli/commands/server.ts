import type { Command } from "commander";
import {
  databasePath,
  runServer,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  shownDatabase,
} from "../../daemon/embedded/embedded-service.ts";
import type { Environment } from "../place/environment.ts";
import { sayJson, sayRows, saySentence, table } from "../screen/output.ts";
import { sayFirstSteps } from "../server/first-steps.ts";
import { type SettingFlags, settingsOf, withSettings } from "../server/server-settings.ts";
import { addBackupCommands } from "./backup.ts";
import { addAccountCommands } from "./host-accounts.ts";
import { addTokenCommands } from "./host-tokens.ts";

/** `server` and its commands. */
export function addServerCommands(program: Command, env: Environment): void {
  const server = program
    .command("server")
    .description("run the hosted server; flags go before variables, those before the file")
    // Its own options come before its commands, which have some of the same name.
    .enablePositionalOptions();
  withSettings(server).option("--json", "print the address as JSON, once it is ready");
  server.action(async (flags: SettingFlags & { readonly json?: boolean }) => {
    const { settings } = settingsOf(env, flags);
    const path = databasePath(settings, env.dir);
    await runServer({ settings, path }, ({ url, isUnused }) => {
      if (flags.json) {
        sayJson({ url, database: shownDatabase(path), has_accounts: !isUnused });
        return;
      }
      saySentence(`memsync server ready at ${url}`);
      if (isUnused) sayFirstSteps({ url, path, allowedHosts: settings.allowed_hosts });
    });
  });
  withSettings(server.command("config"))
    .description("show the settings that the server would run with, and where each is from")
    .option("--json", "print them as JSON")
    .action((flags: SettingFlags & { json?: boolean }) => showSettings(env, flags));
  addBackupCommands(server, env);
  addAccountCommands(server, env);
  addTokenCommands(server, env);
}

function showSettings(env: Environment, flags: SettingFlags & { json?: boolean }): void {
  const { settings, sources } = settingsOf(env, flags);
  const shown = (name: SettingName) => {
    const value = settings[name];
    if (value === undefined) return null;
    if (name === "database_url") return shownDatabase(`${value}`);
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
  sayRows(table(rows));
}
