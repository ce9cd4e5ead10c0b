import type { Kysely } from "kysely";
import { findFormerService } from "../../daemon/home/former-service.ts";
import { EMBEDDED } from "../../daemon/home/remote.ts";
import { listBindings, listRemotes } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import type { Introduction } from "../../daemon/supervise/introduction.ts";
import { type ShellNote, sayNote, unusedHere } from "../contact/unused-variables.ts";
import type { Environment } from "../place/environment.ts";
import { gatewayPort } from "../place/gateway-port.ts";
import { withLocal } from "../place/place.ts";
import { forgottenMend, forgottenShown } from "../place/unkept-variable.ts";
import { count, sayAside } from "../screen/output.ts";
import { isShared, seenBy } from "../views/seen-by.ts";

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
async function findForgotten(env: Environment): Promise<string | undefined> {
  if (env.serviceUrl !== undefined) return undefined;
  return await withLocal(env, async (db) => db && (await findFormerService(db))).catch(
    () => undefined,
  );
}

/** The same for the running daemon, whatever this shell names. */
export async function forgottenBy(
  env: Environment,
  { environment: { url } }: Introduction,
): Promise<string | undefined> {
  return url === null ? await findForgotten({ ...env, serviceUrl: undefined }) : undefined;
}

/** Says it of the running daemon. */
export function startedWithout(forgotten: string): string {
  return (
    `the daemon was started without MEMSYNC_URL, and this home was synced with ${forgotten} ` +
    "until now"
  );
}

/** The embedded service has all, but it is not the one that the home's content is meant for. */
export function savedAlone(forgotten: string | undefined): string | undefined {
  if (forgotten === undefined) return undefined;
  const why = startedWithout(forgotten);
  return `everything is saved, but on this machine alone: ${why}: ${forgottenMend(forgotten)}`;
}

/** What a home had before a daemon was started in it. */
export interface HomeBefore {
  /** See `findForgotten`. */
  readonly forgotten?: string | undefined;
  /** What was in the embedded service alone, which `MEMSYNC_URL` takes to its own from now on. */
  readonly arriving?: { readonly memories: number; readonly projects: number } | undefined;
}

/** To be called before the start. */
export async function lookBefore(env: Environment): Promise<HomeBefore> {
  if (env.serviceUrl === undefined) return { forgotten: await findForgotten(env) };
  // A home that can't be read is said by what needs it.
  return {
    arriving: await withLocal(env, async (db) => db && (await findArriving(db))).catch(
      () => undefined,
    ),
  };
}

async function findArriving(db: Kysely<DaemonTables>): Promise<HomeBefore["arriving"]> {
  const [row] = await db.selectFrom("sync_positions").select("service").limit(1).execute();
  const isEmbedded = row?.service === EMBEDDED && (await listRemotes(db)).length === 0;
  if (!isEmbedded || (await findFormerService(db)) !== undefined) return undefined;
  const { memories } = await db
    .selectFrom("memories")
    .select(({ fn }) => fn.countAll<number>().as("memories"))
    .executeTakeFirstOrThrow();
  const projects = (await listBindings(db)).size;
  return memories + projects > 0 ? { memories, projects } : undefined;
}

function arrivingShown(
  { memories, projects }: NonNullable<HomeBefore["arriving"]>,
  { service, remotes }: Pick<DaemonStatus, "service" | "remotes">,
): string {
  const what = [
    ...(memories > 0 ? [count(memories, "memory", "memories")] : []),
    ...(projects > 0 ? [count(projects, "project", "projects")] : []),
  ];
  const audience = remotes.find((each) => each.default)?.audience ?? null;
  const whose = audience?.account ? `, to the account ${audience.account}` : "";
  const seen = isShared(audience) ? `; global is seen by ${seenBy(audience)} there` : "";
  return (
    `what was in the embedded service alone (${what.join(", ")}) goes to ${service.name}${whose} ` +
    `from now on, for MEMSYNC_URL names it${seen}`
  );
}

/** Says on standard error, after a daemon was started, what the user hardly intended. */
export function sayOfShell(
  env: Environment,
  status: Pick<DaemonStatus, "service" | "remotes">,
  { forgotten, arriving }: HomeBefore = {},
): void {
  const unused = unusedToken(env, status);
  if (unused) sayAside(`${unused.detail}: ${unused.mend}`);
  const isEmbedded = status.service.name === EMBEDDED;
  if (arriving && !isEmbedded) sayAside(arrivingShown(arriving, status));
  if (forgotten === undefined || !isEmbedded) return;
  sayNote({ detail: forgottenShown(forgotten), mend: forgottenMend(forgotten) });
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
