import pino from "pino";
import type { Log } from "../shared/log.ts";
import { realWorld } from "../shared/world-real.ts";
import { type EmulatorOptions, startEmulator } from "./emulator/start-emulator.ts";
import { createHostApp } from "./host-app.ts";
import { listen } from "./listen.ts";

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
  /** Serve the published specification and nothing else. */
  readonly publishedOnly?: boolean;
}

/** Runs the hosted server until a signal ends it; `onReady` is told its address. */
export async function runServer(
  options: ServerOptions,
  onReady: (url: string) => void,
): Promise<void> {
  const ended = endSignal();
  const service = await createHostApp({
    path: options.path,
    world: realWorld,
    log: openLog(),
    loopbackOnly: LOOPBACK_HOSTS.includes(options.host),
    publishedOnly: options.publishedOnly ?? false,
  });
  try {
    const listener = await listen(service.app, options);
    onReady(listener.url);
    await ended;
    service.hurry();
    await listener.close();
  } finally {
    await service.close();
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
