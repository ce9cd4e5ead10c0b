import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const MIB = 1024 * 1024;

/** What the process should hold at most. */
const HELD_BYTES_MAX = 288 * MIB;

/** The garbage of work on a body, until it is collected, is so many times the body. */
const GARBAGE_FACTOR = 8;

/** A collection takes tens of milliseconds, and is not worth it for less garbage than this. */
const GROWN_BYTES_MIN = 64 * MIB;

/** An account may send a smaller body each second, and all others would wait for a collection. */
const LARGE_BODY_BYTES = 4 * MIB;

/** What a collection left, or what the process held before there was much to collect. */
let leftBytes = process.memoryUsage.rss();

/**
 * Collects garbage before a large body is worked on, if both together would be too much. Left to
 * themselves both runtimes let a process grow to twice what it uses before they collect.
 */
export function makeRoomFor(bytes: number): void {
  if (bytes <= LARGE_BODY_BYTES) return;
  const held = process.memoryUsage.rss();
  const isRoom = held + bytes * GARBAGE_FACTOR <= HELD_BYTES_MAX;
  if (isRoom || held - leftBytes < GROWN_BYTES_MIN) return;
  collect();
  leftBytes = process.memoryUsage.rss();
}

function collect(): void {
  if (typeof Bun === "undefined") collectOnNode();
  else Bun.gc(true);
}

let ofNode: (() => void) | undefined;

/** Node hides its collector from programs that are not started with a flag. */
function collectOnNode(): void {
  if (ofNode === undefined) {
    setFlagsFromString("--expose-gc");
    // The flag has just made it the collector.
    ofNode = runInNewContext("gc") as () => void;
  }
  ofNode();
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
