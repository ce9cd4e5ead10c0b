import { parseServiceUrl, type RemoteEnvironment } from "../../daemon/home/remote.ts";
import { parseToken } from "../../daemon/remotes/parse-token.ts";
import { messageOf } from "../../shared/errors.ts";
import { CommandFailed } from "../screen/errors.ts";
import type { Environment } from "./environment.ts";

/**
 * Reads `MEMSYNC_URL` and `MEMSYNC_TOKEN`. Throws one sentence, which does not quote them, if one
 * is malformed.
 */
export function remoteEnvironment({ serviceUrl, serviceToken }: Environment): RemoteEnvironment {
  return {
    url: serviceUrl === undefined ? undefined : parseServiceUrl(serviceUrl, "MEMSYNC_URL"),
    token: serviceToken === undefined ? undefined : tokenIn(serviceToken),
  };
}

function tokenIn(text: string): string {
  try {
    return parseToken(text);
  } catch (thrown) {
    throw new CommandFailed(`MEMSYNC_TOKEN: ${messageOf(thrown)}`);
  }
}
