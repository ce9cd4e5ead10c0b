import { delay } from "../shared/world.ts";
import { realWorld } from "../shared/world-real.ts";
import { type AppDeps, createApp } from "./app.ts";
import { type EmulatorOptions, startEmulator } from "./emulator/start-emulator.ts";
import { listen } from "./listen.ts";
import { LiveSockets } from "./live/live-sockets.ts";
import { type LogLevel, openLog } from "./open-log.ts";
import { type HostStore, openHostStore } from "./open-store.ts";
import { countRefusals } from "./operations/count-refusals.ts";
import { createOperations } from "./operations/create-operations.ts";
import { Readiness } from "./operations/readiness.ts";
import { createServices } from "./services/create-services.ts";
import { RequestCounts } from "./services/request-counts.ts";
import { serviceStoreOf } from "./services/service-store.ts";
import type { Settings } from "./settings/setting.ts";
import { createStartingApp } from "./starting-app.ts";
import { TokenAuthenticator } from "./token-authenticator.ts";

const LOOPBACK_HOSTS = ["127.0.0.1", "::1", "localhost"];
const SECOND_MS = 1000;

/** Runs the emulator until a signal ends it; `onReady` is told its address. */
export async function runEmulator(
  options: EmulatorOptions & { readonly logLevel: LogLevel },
  onReady: (url: string) => void,
): Promise<void> {
  const ended = endSignal();
  const emulator = await startEmulator(options, {
    world: realWorld,
    log: openLog(options.logLevel),
  });
  onReady(emulator.url);
  await ended;
  await emulator.close();
}

/** How the hosted server runs; `path` is its database's file, whose folder exists. */
export interface ServerOptions {
  readonly settings: Settings;
  readonly path: string;
}

/**
 * Runs the hosted server until a signal ends it; `onReady` is told its address. The port is open
 * before the database is brought to the present schema, and closed before it is closed.
 */
export async function runServer(
  { settings, path }: ServerOptions,
  onReady: (url: string) => void,
): Promise<void> {
  const ended = endSignal();
  const log = openLog(settings.log_level);
  const readiness = new Readiness("starting");
  const starting = createStartingApp({ world: realWorld, log, readiness });
  const listener = await listen(starting.app, settings);
  try {
    const host = await openHostStore(path, realWorld);
    const tokens = new TokenAuthenticator(host.database, realWorld, log);
    try {
      starting.started(createApp(appDeps(settings, host, tokens, readiness, log)));
      readiness.state = "ready";
      onReady(listener.url);
      await ended;
      readiness.state = "draining";
      log.info({ seconds: settings.shutdown_delay }, "ending");
      await delay(realWorld, settings.shutdown_delay * SECOND_MS);
      await listener.close(settings.shutdown_timeout * SECOND_MS);
    } finally {
      await listener.close(0);
      await tokens.settled();
      await host.close();
    }
  } finally {
    await listener.close(0);
  }
}

function appDeps(
  settings: Settings,
  host: HostStore,
  tokens: TokenAuthenticator,
  readiness: Readiness,
  log: AppDeps["log"],
): AppDeps {
  const counts = new RequestCounts(realWorld);
  const services = createServices(serviceStoreOf(host.store), realWorld, counts);
  const sockets = new LiveSockets({
    total: settings.live_sockets_max,
    perAccount: settings.live_sockets_per_account_max,
  });
  const operations = createOperations({
    host,
    sockets,
    world: realWorld,
    readiness,
    metricsToken: settings.metrics_token,
  });
  return {
    services: countRefusals(services, operations.metrics),
    authenticate: (header) => tokens.authenticate(header),
    charge: (caller) => counts.add(caller.account),
    world: realWorld,
    log,
    loopbackOnly: LOOPBACK_HOSTS.includes(settings.host),
    allowedHosts: settings.allowed_hosts,
    sockets,
    operations,
  };
}

/**
 * Listens at once: whoever is told that the program is ready may end it in the same moment. A
 * second signal of the same kind finds nobody listening, and ends the process where it stands.
 */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve());
  });
}
