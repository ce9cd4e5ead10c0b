import type { Log } from "../shared/log.ts";
import { delay } from "../shared/world.ts";
import { realWorld } from "../shared/world-real.ts";
import { createStartingApp } from "./app/starting-app.ts";
import { endSignal } from "./end-signal.ts";
import { createHostApp, type HostApp } from "./host-app.ts";
import { isLoopbackHost } from "./http/loopback.ts";
import { listen } from "./listen/listen.ts";
import { openLog } from "./operations/open-log.ts";
import { Readiness } from "./operations/readiness.ts";
import type { Settings } from "./settings/setting.ts";
import { listAccounts } from "./stores/account-store.ts";

const SECOND_MS = 1000;

/** However long requests took to end, a database has so much time to be closed. */
const CLOSED_WITHIN_MS = SECOND_MS;

/** How the hosted server runs; `path` is its database's file, whose folder exists, or address. */
export interface ServerOptions {
  readonly settings: Settings;
  readonly path: string;
}

/** A server that answers. */
export interface ReadyServer {
  readonly url: string;
  /** It has no account yet, so nobody can use it. */
  readonly isUnused: boolean;
}

/**
 * Runs the hosted server until a signal ends it. `onReady` is called when it answers. The port is
 * opened before the database is migrated, and closed before the database is closed.
 */
export async function runServer(
  { settings, path }: ServerOptions,
  onReady: (server: ReadyServer) => void,
): Promise<void> {
  const ended = endSignal();
  const log = openLog(settings.log_level);
  const readiness = new Readiness("starting");
  const starting = createStartingApp({ world: realWorld, log, readiness });
  const listener = await listen(starting.app, settings);
  try {
    const service = await createHostApp({
      path,
      world: realWorld,
      log,
      loopbackOnly: isLoopbackHost(settings.host),
      limits: settings.limits,
      publishedOnly: settings.published_only,
      allowedHosts: settings.allowed_hosts,
      trustedProxies: settings.trusted_proxies,
      liveSockets: {
        total: settings.live_sockets_max,
        perAccount: settings.live_sockets_per_account_max,
      },
      operated: { readiness, metricsToken: settings.metrics_token },
    });
    let endsBy = 0;
    try {
      starting.started(service.app);
      readiness.state = "ready";
      const accounts = await listAccounts(service.database.reader);
      onReady({ url: listener.url, isUnused: accounts.length === 0 });
      await ended;
      readiness.state = "draining";
      log.info({ seconds: settings.shutdown_delay }, "ending");
      await delay(realWorld, settings.shutdown_delay * SECOND_MS);
      service.hurry();
      await listener.drain();
      endsBy = realWorld.monotonic() + settings.shutdown_timeout * SECOND_MS;
      await listener.close(settings.shutdown_timeout * SECOND_MS);
    } finally {
      await listener.close(0);
      await closed(service, { log, withinMs: endsBy - realWorld.monotonic() });
    }
  } finally {
    await listener.close(0);
  }
}

/**
 * A database that is silent is not waited for: what was acknowledged is in it, and nobody waits for
 * an answer any more. The process ends next, and its connections with it.
 */
async function closed(
  service: HostApp,
  { log, withinMs }: { readonly log: Log; readonly withinMs: number },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const late = realWorld.setTimer(Math.max(CLOSED_WITHIN_MS, withinMs), () => {
      log.warn({}, "ended without an answer of the database");
      resolve();
    });
    service
      .close()
      .then(resolve, reject)
      .finally(() => late.cancel());
  });
}
