import type { DaemonStatus } from "../status.ts";
import { EMBEDDED } from "../remotes/remote.ts";
import type { Environment } from "./environment.ts";

export const UNUSED_TOKEN =
  "MEMSYNC_TOKEN is set without MEMSYNC_URL, and the embedded service takes no token";
export const UNUSED_TOKEN_MEND =
  "set MEMSYNC_URL to the service that the token is of, or unset MEMSYNC_TOKEN";

/** Whether who set a token gets the embedded service, which was hardly meant. */
export function isTokenUnused(
  { serviceUrl, serviceToken }: Environment,
  { service }: Pick<DaemonStatus, "service">,
): boolean {
  return serviceToken !== undefined && serviceUrl === undefined && service.name === EMBEDDED;
}
