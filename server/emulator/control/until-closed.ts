import type { EmulatorControls } from "../interface/emulator.ts";
import { EMULATOR_CLOSED } from "./request-controls.ts";

/** The same controls until `isClosed`; each call throws the same error then. */
export function untilClosed(controls: EmulatorControls, isClosed: () => boolean): EmulatorControls {
  return guarded(controls, isClosed);
}

function guarded<T extends object>(calls: T, isClosed: () => boolean): T {
  const entries = Object.entries(calls).map(([name, each]) => {
    if (typeof each !== "function") return [name, guarded(each, isClosed)];
    const call = (...args: unknown[]) => {
      if (isClosed()) throw new Error(EMULATOR_CLOSED);
      return each(...args);
    };
    return [name, call];
  });
  // Each property keeps its name, and each call takes and gives what it did.
  return Object.fromEntries(entries) as T;
}
