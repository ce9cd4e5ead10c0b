import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Home } from "../home/home.ts";
import { RUNTIME_ENVIRONMENT } from "./runtime-environment.ts";
import { selfCommand } from "./self-command.ts";

/** What a service manager needs to know about the daemon of one home, in any format. */
export interface ServiceDefinition {
  /** `memsync`; for a home other than `~/.memsync`, a name of its own. */
  readonly name: string;
  /** The program, by its whole path, and its arguments. */
  readonly command: readonly string[];
  /** Never contains a token: others can read these files. */
  readonly environment: Readonly<Record<string, string>>;
  /** The file for the daemon's standard error: its own log. */
  readonly log: string;
}

/** Variables that the service gets from this environment, besides the home. */
const CARRIED = ["MEMSYNC_URL", "MEMSYNC_GATEWAY_PORT"];

/** The definition for this home, started in the same way as this process. */
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
      // git is found by it.
      PATH: lastingFolders(variables.PATH ?? ""),
      ...RUNTIME_ENVIRONMENT,
      ...Object.fromEntries(carried),
    },
    log: home.log,
  };
}

/** The name of a home's service. Two homes count as two machines and have two services. */
export function serviceName(home: Home): string {
  if (home.dir === join(homedir(), ".memsync")) return "memsync";
  return `memsync-${createHash("sha256").update(home.dir).digest("hex").slice(0, 8)}`;
}

/** Without the folders of packages that npm puts in front, which may disappear. */
function lastingFolders(path: string): string {
  const separator = process.platform === "win32" ? ";" : ":";
  const lasting = path
    .split(separator)
    .filter((folder) => !/node_modules|node-gyp-bin/.test(folder));
  return lasting.filter((folder) => folder !== "").join(separator);
}
