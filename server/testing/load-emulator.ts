import type { Emulator, EmulatorOptions, EmulatorSeed } from "../emulator/start-emulator.ts";

/**
 * Loads the emulator when it is needed first. The package has two of its own in place of this: a
 * runner may hold tests in a context that can't import (`scripts/build-testing.ts`).
 */
export async function loadEmulator(): Promise<{
  startEmulator(options: EmulatorOptions): Promise<Emulator>;
  readSeed(path: string): Promise<EmulatorSeed>;
}> {
  return await import("../emulator/start-emulator.ts");
}
