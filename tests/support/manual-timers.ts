import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";

/** A world whose timers run when they are told to. */
export function manualTimers(): { readonly world: World; fire(delayMs: number): void } {
  const timers = new Map<symbol, { readonly delayMs: number; readonly callback: () => void }>();
  const world: World = {
    ...realWorld,
    setTimer(delayMs, callback) {
      const name = Symbol();
      timers.set(name, { delayMs, callback });
      return { cancel: () => void timers.delete(name) };
    },
  };
  function fire(delayMs: number): void {
    for (const [name, timer] of [...timers]) {
      if (timer.delayMs !== delayMs) continue;
      timers.delete(name);
      timer.callback();
    }
  }
  return { world, fire };
}
