import { AppError } from "../../shared/errors.ts";
import type {
  Emulator,
  EmulatorClock,
  EmulatorOptions,
  EmulatorSeed,
} from "../emulator/start-emulator.ts";
import { loadEmulator } from "./load-emulator.ts";
import { findTestHooks, type TestHooks } from "./test-hooks.ts";

export type { TestHooks } from "./test-hooks.ts";

/** Options of `useMemsync`, all optional: those of `startEmulator`, and these. */
export interface UseMemsyncOptions extends EmulatorOptions {
  /**
   * `each`, the default: before each test everything is as at the start: data, limits, faults, the
   * journal, clock and chance. `never`: a test finds what earlier ones have left.
   */
  readonly reset?: "each" | "never";
  /** The runner's functions where they are no globals, as with Vitest: all that it exports. */
  readonly hooks?: TestHooks;
}

/**
 * Gives the tests of a file, or of a `describe`, an emulator of their own: it starts before the
 * first, is as new before each, and ends after the last. `MEMSYNC_URL` and `MEMSYNC_TOKEN` lead to
 * it meanwhile, and are afterwards what they were. For bun:test, Vitest, Jest and node:test. What
 * is returned is the emulator as soon as it runs; to use it before that throws.
 *
 * ```
 * const memsync = useMemsync({ plan: "pro", reset: "each" });
 * test("a note is written once", async () => {
 *   memsync.faults.add({ method: "POST", path: "/v1/memories", disconnect: "after" });
 *   await addNote("once"); // finds the service by MEMSYNC_URL
 *   expect((await memsync.export()).user?.memories).toHaveLength(1);
 * });
 * ```
 */
export function useMemsync(options: UseMemsyncOptions = {}): Emulator {
  const { reset = "each", hooks = findTestHooks(), ...rest } = options;
  let running: Emulator | undefined;
  let seed: EmulatorSeed | undefined;
  let restore = () => {};
  hooks.beforeAll(async () => {
    const { startEmulator, readSeed } = await loadEmulator();
    seed = typeof rest.seed === "string" ? await readSeed(rest.seed) : rest.seed;
    running = await startEmulator({ ...rest, ...(seed && { seed }) });
    restore = setVariables(running.env);
  });
  hooks.beforeEach(async () => {
    if (running && reset === "each") await beginAgain(running, { ...rest, seed });
  });
  hooks.afterAll(async () => {
    restore();
    await running?.close();
    running = undefined;
  });
  return whenItRuns(() => running);
}

/** How `startEmulator` left it. */
interface Beginning extends Pick<EmulatorOptions, "clock" | "random"> {
  readonly seed: EmulatorSeed | undefined;
}

async function beginAgain(emulator: Emulator, { clock, random, seed }: Beginning) {
  if (clock === undefined) await resumeRealTime(emulator.clock);
  else await emulator.clock.freeze(clock);
  emulator.random(random ?? null);
  await emulator.reset();
  if (seed !== undefined) await emulator.seed(seed);
}

/** After the moves that a test did not wait for. */
async function resumeRealTime(clock: EmulatorClock): Promise<void> {
  await clock.resume();
  const { now, offsetMs } = clock.read();
  if (offsetMs !== 0) await clock.set(Date.parse(now) - offsetMs);
}

/** Sets variables of this process. Returns a function that makes them what they were. */
function setVariables(variables: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

/** Its properties are those of the emulator that runs at the time. */
function whenItRuns(running: () => Emulator | undefined): Emulator {
  // Every property is asked of the handler, which asks the emulator.
  return new Proxy({} as Emulator, {
    get(_, name) {
      const emulator = running();
      if (emulator) return Reflect.get(emulator, name);
      // Runners look at any value so, to print it or to wait for it.
      if (typeof name === "symbol" || name === "then") return undefined;
      throw new AppError("invalid_request", `memsync.${name}: it runs only while tests do`);
    },
    has: (_, name) => Reflect.has(running() ?? {}, name),
  });
}
