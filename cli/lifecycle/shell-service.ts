import { findSyncedService } from "../../daemon/home/former-service.ts";
import { EMBEDDED } from "../../daemon/home/remote.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import type { Introduction } from "../../daemon/supervise/introduction.ts";
import { type ShellNote, sayNote, unusedHere } from "../contact/unused-variables.ts";
import type { Environment } from "../place/environment.ts";
import { gatewayPort } from "../place/gateway-port.ts";
import { withLocal } from "../place/place.ts";
import { forgottenShown } from "../place/unkept-variable.ts";
import { sayAside } from "../screen/output.ts";

export const UNUSED_TOKEN = {
  detail: "MEMSYNC_TOKEN is set without MEMSYNC_URL, and the embedded service takes no token",
  mend: "set MEMSYNC_URL to the service that the token is of, or unset MEMSYNC_TOKEN",
};

function unusedToken(
  { serviceUrl, serviceToken }: Pick<Environment, "serviceUrl" | "serviceToken">,
  { service }: Pick<DaemonStatus, "service">,
): typeof UNUSED_TOKEN | undefined {
  const isUnused = serviceToken !== undefined && serviceUrl === undefined;
  return isUnused && service.name === EMBEDDED ? UNUSED_TOKEN : undefined;
}

/**
 * The note for a shell that names another service than the daemon uses, or none. The daemon's
 * service counts. An installed service has its address in the unit file, so shells need not name
 * it.
 */
export function otherService(
  { serviceUrl, variables }: Pick<Environment, "serviceUrl" | "variables">,
  introduction: Introduction,
): ShellNote | undefined {
  const its = introduction.environment.url;
  if (serviceUrl !== undefined || its === null || introduction.started === "service") {
    return unusedHere(variables, introduction)[0];
  }
  return {
    code: "daemon-another-service",
    detail: `running with MEMSYNC_URL ${its}, which is unset here`,
    mend: "set it here as there, or run `memsync stop` and `memsync start` to change its service",
  };
}

/**
 * The service that a home was synced with, where a shell names none: a daemon started there would
 * use the embedded one in its place. To be called before the start.
 */
export async function findForgotten(env: Environment): Promise<string | undefined> {
  if (env.serviceUrl !== undefined) return undefined;
  return await withLocal(env, async (db) => db && (await findSyncedService(db))).catch(
    () => undefined,
  );
}

/** Says on standard error, after a daemon was started, what the user hardly intended. */
export function sayOfShell(
  env: Environment,
  status: Pick<DaemonStatus, "service">,
  forgotten?: string,
): void {
  const unused = unusedToken(env, status);
  if (unused) sayAside(`${unused.detail}: ${unused.mend}`);
  if (forgotten === undefined || status.service.name !== EMBEDDED) return;
  sayAside(
    `${forgottenShown(forgotten)}: set it and start anew, or \`memsync login --url ` +
      `${forgotten}\` keeps it for all shells`,
  );
}

/** Says on standard error that the running daemon uses another service, or another port. */
export function sayOfRunning(env: Environment, introduction: Introduction): void {
  const note = otherService(env, introduction);
  if (note) sayNote(note);
  const port = gatewayPort(env);
  if (port === undefined || introduction.environment.gateway_port === `${port}`) return;
  sayAside(
    `MEMSYNC_GATEWAY_PORT is ${port} here, and the running daemon was started without that: ` +
      "`memsync stop` and `memsync start` change its port",
  );
}
