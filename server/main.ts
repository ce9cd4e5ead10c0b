import pino from "pino";
import type { Log } from "../shared/log.ts";
import { Sweeper } from "../shared/replica/sweeper.ts";
import { realWorld } from "../shared/world-real.ts";
import { createApp } from "./app.ts";
import { type EmulatorOptions, startEmulator } from "./emulator/start-emulator.ts";
import { listen } from "./listen.ts";
import { openHostStore } from "./open-store.ts";
import { createServices } from "./services/create-services.ts";
import { RequestCounts } from "./services/request-counts.ts";
import { serviceStoreOf } from "./services/service-store.ts";
import { TokenAuthenticator } from "./token-authenticator.ts";

const LOOPBACK_HOSTS = ["127.0.0.1", "::1", "localhost"];

/** Runs the emulator until a signal ends it; `onReady` is told its address. */
export async function runEmulator(
  options: EmulatorOptions,
  onReady: (url: string) => void,
): Promise<void> {
  const ended = endSignal();
  const emulator = await startEmulator(options, { world: realWorld, log: openLog() });
  onReady(emulator.url);
  await ended;
  await emulator.close();
}

/** Where the hosted server listens and keeps its data. Port 0 takes any free one. */
export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** Path of the database file; its folder exists. */
  readonly path: string;
}

/** Runs the hosted server until a signal ends it; `onReady` is told its address. */
export async function runServer(
  options: ServerOptions,
  onReady: (url: string) => void,
): Promise<void> {
  const ended = endSignal();
  const log = openLog();
  const host = await openHostStore(options.path, realWorld);
  const sweeper = new Sweeper(host.store, realWorld, log);
  sweeper.start();
  const tokens = new TokenAuthenticator(host.database, realWorld, log);
  const counts = new RequestCounts(realWorld);
  const app = createApp({
    services: createServices(serviceStoreOf(host.store), realWorld, counts),
    authenticate: (header) => tokens.authenticate(header),
    charge: (caller) => counts.add(caller.account),
    world: realWorld,
    log,
    loopbackOnly: LOOPBACK_HOSTS.includes(options.host),
  });
  try {
    const listener = await listen(app, options);
    onReady(listener.url);
    await ended;
    await listener.close();
  } finally {
    await sweeper.stop();
    await tokens.settled();
    await host.close();
  }
}

/** JSON lines on standard error, so that standard output is the program's own words. */
function openLog(): Log {
  return pino({ base: null }, pino.destination({ dest: 2, sync: true }));
}

/** Listens at once: whoever is told that the program is ready may end it in the same moment. */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve());
  });
}
