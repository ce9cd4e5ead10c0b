import { resolve } from "node:path";
import { type Home, homeOf } from "../home.ts";

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

/** npm runs scripts in the package's folder and says in `INIT_CWD` where the user stands. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  return {
    home: homeOf(env),
    dir: resolve(env.INIT_CWD || process.cwd()),
    serviceUrl: env.MEMSYNC_URL || undefined,
    serviceToken: env.MEMSYNC_TOKEN || undefined,
    variables: env,
  };
}
