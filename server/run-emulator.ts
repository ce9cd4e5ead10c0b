import { realWorld } from "../shared/world-real.ts";
import {
  type Emulator,
  type EmulatorControls,
  type EmulatorOptions,
  startEmulator,
} from "./emulator/start-emulator.ts";
import { endSignal } from "./end-signal.ts";
import { type LogLevel, openLog } from "./operations/open-log.ts";

/**
 * Runs the emulator until a signal ends it, or `over` resolves. `onReady` is called when it
 * answers, and `onEnd` when it has answered its last request.
 */
export async function runEmulator(
  {
    logLevel,
    over,
    ...options
  }: EmulatorOptions & { readonly logLevel: LogLevel; readonly over?: Promise<void> },
  onReady: (emulator: Emulator) => void,
  onEnd: (controls: EmulatorControls) => Promise<void> = async () => {},
): Promise<void> {
  let isSignalled = false;
  const signalled = endSignal().then(() => {
    isSignalled = true;
  });
  const ended = Promise.race([signalled, ...(over ? [over] : [])]);
  const emulator = await startEmulator(options, {
    world: realWorld,
    log: openLog(logLevel),
    atEnd: onEnd,
    clientsLeave: () => isSignalled,
  });
  onReady(emulator);
  await ended;
  await emulator.close();
}
