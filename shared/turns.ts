import type { World } from "./world.ts";

/** Ends a long piece of work's turn of the event loop, if it has lasted; it goes on in the next. */
export type Pause = () => Promise<void> | undefined;

/** Of work that is to be done in one turn. */
export const NO_PAUSE: Pause = () => undefined;

/** How long one turn lasts. A step between two calls of a pause should take much less. */
const TURN_MS = 2;

/**
 * A pause for the work of a process that answers others besides. A write's transaction stays open
 * meanwhile: other writes wait for it, and nobody sees what it has done so far.
 */
export function createPause(world: World): Pause {
  let begunAt = world.monotonic();
  return () => {
    if (world.monotonic() - begunAt < TURN_MS) return undefined;
    return new Promise<void>((resolve) => {
      world.defer(() => {
        begunAt = world.monotonic();
        resolve();
      });
    });
  };
}

const pauses = new WeakMap<World, Pause>();

/** The pause of all work that shares a world's turns. */
export function pauseOf(world: World): Pause {
  const known = pauses.get(world) ?? createPause(world);
  pauses.set(world, known);
  return known;
}

/** Runs long pieces of work of the same name one after another. */
export class Queues<Name> {
  readonly #last = new Map<Name, Promise<void>>();

  /** Resolves when all work of that name is done; undefined if there is none. */
  done(name: Name): Promise<void> | undefined {
    return this.#last.get(name);
  }

  /** Runs `work` when all work of that name is done that came before. */
  async run<Result>(name: Name, work: () => Promise<Result>): Promise<Result> {
    const running = Promise.resolve(this.#last.get(name)).then(work);
    const done = running.then(
      () => {},
      () => {},
    );
    this.#last.set(name, done);
    try {
      return await running;
    } finally {
      if (this.#last.get(name) === done) this.#last.delete(name);
    }
  }

  async allDone(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}

/** `items` in order, by `size`; nothing of no items. */
export function chunksOf<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  if (items.length <= size) return items.length === 0 ? [] : [items];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}
