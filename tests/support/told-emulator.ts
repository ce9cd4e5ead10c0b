import { type EmulatorOptions, startEmulator } from "../../server/emulator/start-emulator.ts";
import { silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { manualTimers } from "./manual-timers.ts";

/** An answer has surely been read after some of these. */
const TURN_MS = 5;
const TURNS = 20;

/** An emulator whose clients have read their answers, over any connection, when it is told so. */
export async function startTold(options: EmulatorOptions = {}) {
  const held = manualTimers();
  const world: World = {
    ...realWorld,
    setTimer(delayMs, callback) {
      const { setTimer } = delayMs === TURN_MS ? held.world : realWorld;
      return setTimer(delayMs, callback);
    },
  };
  const emulator = await startEmulator(options, { world, log: silentLog });
  const allRead = () => {
    for (let turn = 0; turn < TURNS; turn++) held.fire(TURN_MS);
  };
  return { ...emulator, allRead };
}
