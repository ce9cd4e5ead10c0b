import { EMBEDDED } from "../../daemon/home/remote.ts";
import { listRemotes } from "../../daemon/home/remote-store.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import type { Introduction } from "../../daemon/supervise/introduction.ts";
import type { Environment } from "../place/environment.ts";
import { gatewayPort } from "../place/gateway-port.ts";
import { withLocal } from "../place/place.ts";
import { sayAside } from "../screen/output.ts";

/** Something unexpected about the service that a shell names, with advice. */
export interface ShellNote {
  readonly detail: string;
  readonly mend: string;
}

export const UNUSED_TOKEN: ShellNote = {
  detail: "MEMSYNC_TOKEN is set without MEMSYNC_URL, and the embedded service takes no token",
  mend: "set MEMSYNC_URL to the service that the token is of, or unset MEMSYNC_TOKEN",
};

function unusedToken(
  { serviceUrl, serviceToken }: Pick<Environment, "serviceUrl" | "serviceToken">,
  { service }: Pick<DaemonStatus, "service">,
): ShellNote | undefined {
  const isUnused = serviceToken !== undefined && serviceUrl === undefined;
  return isUnused && service.name === EMBEDDED ? UNUSED_TOKEN : undefined;
}

/**
 * For a shell that names another service than the daemon uses. The daemon's counts. An installed
 * service has the address in its unit file, so that shells need not name it.
 */
export function otherService(
  { serviceUrl }: Pick<Environment, "serviceUrl">,
  { environment, started }: Introduction,
): ShellNote | undefined {
  const its = environment.url ?? undefined;
  if (its === serviceUrl || (started === "service" && serviceUrl === undefined)) return undefined;
  // The value may contain a password.
  const here = serviceUrl === undefined ? "unset" : "another";
  return {
    detail: `running with MEMSYNC_URL ${its ?? "unset"}, which is ${here} here`,
    mend: "set it here as there, or run `memsync stop` and `memsync start` to change its service",
  };
}

/**
 * The service that a home was synced with, where a shell names none: a daemon started there would
 * use the embedded one in its place. To be called before the start.
 */
export async function findForgotten(env: Environment): Promise<string | undefined> {
  if (env.serviceUrl !== undefined) return undefined;
  const rows = await withLocal(env, async (db) => {
    if (!db || (await listRemotes(db)).length > 0) return [];
    return await db
      .selectFrom("sync_positions")
      .select("service")
      .where("service", "!=", EMBEDDED)
      .orderBy("service")
      .limit(1)
      .execute();
  }).catch(() => []);
  return rows[0]?.service;
}

/** After the start of a daemon: says on standard error what the user hardly intended. */
export function sayOfShell(
  env: Environment,
  status: Pick<DaemonStatus, "service">,
  forgotten?: string,
): void {
  const unused = unusedToken(env, status);
  if (unused) sayAside(`${unused.detail}: ${unused.mend}`);
  if (forgotten === undefined || status.service.name !== EMBEDDED) return;
  sayAside(
    `MEMSYNC_URL is unset here, and this home was synced with ${forgotten} until now: set it and ` +
      `start anew, or \`memsync login --url ${forgotten}\` keeps it for all shells`,
  );
}

/** Says on standard error that the running daemon uses another service, or another port. */
export function sayOfRunning(env: Environment, introduction: Introduction): void {
  const note = otherService(env, introduction);
  if (note) sayAside(`${note.detail}: ${note.mend}`);
  const port = gatewayPort(env);
  if (port === undefined || introduction.environment.gateway_port === `${port}`) return;
  sayAside(
    `MEMSYNC_GATEWAY_PORT is ${port} here, and the running daemon was started without that: ` +
      "`memsync stop` and `memsync start` change its port",
  );
}
