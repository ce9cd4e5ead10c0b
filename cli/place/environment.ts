import { resolve } from "node:path";
import { type Home, homeOf } from "../../daemon/home/home.ts";

/** What a command is given by whoever called it. */
export interface Environment {
  readonly home: Home;
  /** The folder that paths are relative to. */
  readonly dir: string;
  /** Address of the configured service, without `/v1` or `/api`; undefined: the embedded one. */
  readonly serviceUrl: string | undefined;
  readonly serviceToken: string | undefined;
  /** All variables, for those that only some commands look at. */
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
 * `npm run memsync` runs in this package's folder, and npm says in `INIT_CWD` where its user stands
 * (below any script: in another one the user stands where that script went).
 */
function folderOf(env: Readonly<Record<string, string | undefined>>): string {
  const isOwnScript = env.npm_package_name === "memsync" && env.npm_lifecycle_event === "memsync";
  return (isOwnScript && env.INIT_CWD) || process.cwd();
}
