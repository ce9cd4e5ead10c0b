import { setFlagsFromString } from "node:v8";
import { delay, type World } from "../../shared/world.ts";

const MIB = 1024 * 1024;

type Clock = Pick<World, "setTimer" | "monotonic">;

/** What the process should hold at most. */
const HELD_BYTES_MAX = 288 * MIB;

/** The garbage of work on a body, until it is collected, is so many times the body. */
const GARBAGE_FACTOR = 8;

/** A collection takes a core for tens of milliseconds, and is not worth it for less than this. */
const GROWN_BYTES_MIN = 64 * MIB;

/**
 * Smaller bodies are not worth a collection: an account may send one each second, and a core would
 * do little but collect.
 */
const LARGE_BODY_BYTES = 4 * MIB;

/** How often it is looked whether a collection has ended, and for how long at most. */
const LOOK_EVERY_MS = 2;
const LOOK_MS_MAX = 500;

/** The least that the process held after a collection, or before there was much to collect. */
let leftBytes = process.memoryUsage.rss();

let collecting: Promise<void> | undefined;

/** Where much is left, so many collections follow each other; the body waits for all of them. */
const COLLECTIONS_MAX = 4;

/**
 * Has garbage collected before a large body is worked on, if both together would be too much, and
 * before a smaller one if it is too much already. Left to themselves both runtimes let a process
 * grow to twice what it uses before they collect. The collection runs beside the loop, which goes
 * on meanwhile: the bodies alone wait for it.
 */
export async function makeRoomFor(bytes: number, world: Clock): Promise<void> {
  const held = process.memoryUsage.rss();
  leftBytes = Math.min(leftBytes, held);
  const wanted = bytes > LARGE_BODY_BYTES ? bytes * GARBAGE_FACTOR : 0;
  if (!isMuchMore(held, wanted)) return;
  collecting ??= collectAll(world).finally(() => {
    collecting = undefined;
    leftBytes = process.memoryUsage.rss();
  });
  await collecting;
}

/** Whether a collection is worth it before so many bytes come to those that are held. */
function isMuchMore(held: number, wanted = 0): boolean {
  return held + wanted > HELD_BYTES_MAX && held - leftBytes >= GROWN_BYTES_MIN;
}

/** What became garbage during a collection is left by it, and much may do so. */
async function collectAll(world: Clock): Promise<void> {
  for (let count = 0; count < COLLECTIONS_MAX; count++) {
    await collect(world);
    if (!isMuchMore(process.memoryUsage.rss())) return;
  }
}

/** Resolves when a collection has ended that began now. */
function collect(world: Clock): Promise<void> {
  return typeof Bun === "undefined" ? collectOnNode(world) : collectOnBun(world);
}

/** Once this much more is in use after a collection, the next one collects everything. */
const BALLAST_BYTES = 512 * MIB;

/**
 * Beside its loop Bun collects new objects alone, unless much more memory is in use than before.
 * What bodies leave is older. So a buffer that is never written to takes much memory for a moment,
 * and the next collection is of everything.
 */
async function collectOnBun(world: Clock): Promise<void> {
  const older = new Witness();
  // Where such bytes were given back before, zeros would be written into them: 512 MiB, in a turn.
  const ballast = Buffer.allocUnsafeSlow(BALLAST_BYTES);
  Bun.gc(false);
  await new Witness().gone(world);
  giveBack(ballast);
  Bun.gc(false);
  await older.gone(world);
}

/** An array of so many elements has pages of its own, before which V8 looks at its triggers. */
const OWN_PAGES_LENGTH = 64 * 1024;

/**
 * A collection that V8 is asked for takes one turn. So its trigger is set so low that it is reached
 * always: when V8 next looks at it, it begins a collection in pieces, and on other threads.
 */
async function collectOnNode(world: Clock): Promise<void> {
  setFlagsFromString("--incremental-marking-soft-trigger=1");
  await new Witness().gone(world, () => new Array(OWN_PAGES_LENGTH).fill(0));
  setFlagsFromString("--incremental-marking-soft-trigger=0");
}

/** The stack may hold what looks like a pointer to some of them, so there are several. */
const WITNESSES = 8;

/** Objects that nobody uses but this: once one of them is gone, a collection has ended. */
class Witness {
  static readonly #registry = new FinalizationRegistry<{ isGone: boolean }>((state) => {
    state.isGone = true;
  });
  readonly #state = { isGone: false };
  #objects: object[] = Array.from({ length: WITNESSES }, () => ({}));

  constructor() {
    for (const each of this.#objects) Witness.#registry.register(each, this.#state);
  }

  /** Resolves when they are gone, or may be so. `meanwhile` is called at every look. */
  async gone(world: Clock, meanwhile: () => unknown = () => {}): Promise<void> {
    this.#objects = [];
    const until = world.monotonic() + LOOK_MS_MAX;
    while (!this.#state.isGone && world.monotonic() < until) {
      meanwhile();
      await delay(world, LOOK_EVERY_MS);
    }
  }
}

/** From this size on, bytes are worth being given back by themselves. */
const LARGE_BYTES = 16 * 1024;

/** A buffer for bytes that come, which `giveBack` can empty on every runtime. */
export function bufferFor(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(bytes, { maxByteLength: bytes }));
}

/** Gives the memory of large bytes back at once. They are empty afterwards. */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < LARGE_BYTES) return;
  // Node 20 has both of a buffer that was made for it, and neither of any other.
  const { resizable, resize, transfer } = buffer as Emptiable;
  if (resizable) resize?.call(buffer, 0);
  else transfer?.call(buffer, 0);
}

/** What the language has since ES2024. */
interface Emptiable {
  readonly resizable?: boolean;
  readonly resize?: (bytes: number) => void;
  readonly transfer?: (bytes: number) => ArrayBuffer;
}
