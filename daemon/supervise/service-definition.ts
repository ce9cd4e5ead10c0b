import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Home } from "../home/home.ts";
import { RUNTIME_ENVIRONMENT } from "./runtime-environment.ts";
import { selfCommand } from "./self-command.ts";

/** What a service manager is told about the daemon of one home, whatever form it wants it in. */
export interface ServiceDefinition {
  /** `memsync`, and for a home elsewhere than `~/.memsync` a name of its own. */
  readonly name: string;
  /** The program, by its whole path, and its arguments. */
  readonly command: readonly string[];
  /** Never a token: these files may be read, and are shown, by others. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where the daemon's standard error goes: its own log. */
  readonly log: string;
}

/** What goes on from this environment into the service's, besides the home. */
const CARRIED = ["MEMSYNC_URL", "MEMSYNC_GATEWAY_PORT"];

/** The definition for this home, started as this process was. */
export function defineService(
  home: Home,
  variables: Readonly<Record<string, string | undefined>>,
): ServiceDefinition {
  const carried = CARRIED.flatMap((name) => {
    const value = variables[name];
    return value ? [[name, value] as const] : [];
  });
  return {
    name: serviceName(home),
    command: [...selfCommand(), "daemon", "--started", "service"],
    environment: {
      MEMSYNC_HOME: home.dir,
      // Where git is found.
      PATH: lastingFolders(variables.PATH ?? ""),
      ...RUNTIME_ENVIRONMENT,
      ...Object.fromEntries(carried),
    },
    log: home.log,
  };
}

/** The name of a home's service: two homes are two machines, and have two. */
export function serviceName(home: Home): string {
  if (home.dir === join(homedir(), ".memsync")) return "memsync";
  return `memsync-${createHash("sha256").update(home.dir).digest("hex").slice(0, 8)}`;
}

/** npm puts folders of packages in front, which are gone one day. */
function lastingFolders(path: string): string {
  const separator = process.platform === "win32" ? ";" : ":";
  const lasting = path
    .split(separator)
    .filter((folder) => !/node_modules|node-gyp-bin/.test(folder));
  return lasting.filter((folder) => folder !== "").join(separator);
}
