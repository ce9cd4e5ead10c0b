import type { World } from "./world.ts";

/** Ends a long piece of work's turn of the event loop, if it has lasted; it goes on in the next. */
export type Pause = () => Promise<void> | undefined;

/** Of work that is to be done in one turn. */
export const NO_PAUSE: Pause = () => undefined;

/** How long one turn lasts. A step between two calls of a pause should take much less. */
const TURN_MS = 2;

/** While work comes first, other long work has one turn after so many of the first one's. */
const TURNS_LEFT = 8;

/** The turns of one thread, which all of its long work takes in common. */
class Turns {
  readonly #world: World;
  #begunAt: number;
  #first = 0;

  constructor(world: World) {
    this.#world = world;
    this.#begunAt = world.monotonic();
  }

  /** See `pauseOf`. */
  readonly pause: Pause = () => this.#end(0);
  /** See `patientPauseOf`. */
  readonly patientPause: Pause = () => this.#end(TURNS_LEFT);

  /** See `comeFirst`. */
  async comeFirst<Result>(work: Promise<Result>): Promise<Result> {
    this.#first += 1;
    try {
      return await work;
    } finally {
      this.#first -= 1;
    }
  }

  #end(turnsLeft: number): Promise<void> | undefined {
    if (this.#world.monotonic() - this.#begunAt < TURN_MS) return undefined;
    return new Promise((resolve) => this.#goOnLater(turnsLeft, resolve));
  }

  #goOnLater(turnsLeft: number, goOn: () => void): void {
    this.#world.defer(() => {
      if (turnsLeft > 0 && this.#first > 0) {
        this.#goOnLater(turnsLeft - 1, goOn);
        return;
      }
      this.#begunAt = this.#world.monotonic();
      goOn();
    });
  }
}

const turns = new WeakMap<World, Turns>();

function turnsOf(world: World): Turns {
  const known = turns.get(world) ?? new Turns(world);
  turns.set(world, known);
  return known;
}

/**
 * A pause for the work of a process that answers others besides, which all of it shares. A write's
 * transaction stays open meanwhile: other writes wait for it, and nobody sees what it has done so
 * far.
 */
export function pauseOf(world: World): Pause {
  return turnsOf(world).pause;
}

/**
 * The same for long work that keeps nobody else waiting, such as reading a body: it leaves most of
 * the turns to what comes first.
 */
export function patientPauseOf(world: World): Pause {
  return turnsOf(world).patientPause;
}

/** Until it has ended, others wait for `work`, whoever they are: it has most of the turns. */
export function comeFirst<Result>(world: World, work: Promise<Result>): Promise<Result> {
  return turnsOf(world).comeFirst(work);
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
