import { resolve } from "node:path";
import { type Home, homeOf } from "../../daemon/home/home.ts";

/** What a command gets from its caller. */
export interface Environment {
  readonly home: Home;
  /** Relative paths start at this folder. */
  readonly dir: string;
  /** Address of the configured service, without `/v1` or `/api`; undefined: the embedded one. */
  readonly serviceUrl: string | undefined;
  readonly serviceToken: string | undefined;
  /**
   * The descriptor of the pipe by which the end of the launcher is known, if one started this
   * process.
   */
  readonly launcherPipe?: number | undefined;
  /** All variables, for the few commands that need others. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  return {
    home: homeOf(env),
    dir: resolve(folderOf(env)),
    serviceUrl: env.MEMSYNC_URL || undefined,
    serviceToken: env.MEMSYNC_TOKEN || undefined,
    variables: env,
  };
}

/**
 * `npm run memsync` runs in this package's folder, and npm puts the user's folder into `INIT_CWD`.
 * Below any other script, the user's folder is that of the script.
 */
function folderOf(env: Readonly<Record<string, string | undefined>>): string {
  const isOwnScript = env.npm_package_name === "memsync" && env.npm_lifecycle_event === "memsync";
  return (isOwnScript && env.INIT_CWD) || currentFolder(env);
}

/** The current folder. If it was deleted, only the name is left by which the shell knew it. */
function currentFolder({ PWD }: Readonly<Record<string, string | undefined>>): string {
  try {
    return process.cwd();
  } catch {
    return PWD || "/";
  }
}
