import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { AppError } from "../../shared/errors.ts";
import { bufferFor, giveBack } from "./garbage.ts";

/** What became of a compressed body. */
export type Inflated = Uint8Array | "oversized" | "broken";

/** Whether a body came compressed by gzip. */
export function isGzip(headers: Headers): boolean {
  return /^\s*(x-)?gzip\s*$/i.test(headers.get("content-encoding") ?? "");
}

/** Whether a body came in an encoding that is not understood. */
export function isUnknownEncoding(headers: Headers): boolean {
  const encoding = headers.get("content-encoding")?.trim() ?? "";
  return !isGzip(headers) && !/^(identity)?$/i.test(encoding);
}

/** A body is inflated by so many bytes. */
const STEP_BYTES = 64 * 1024;

/** No byte of a gzip becomes more than so many. */
const RATIO_MAX = 1032;

/** Where the room for what a body becomes comes from. */
export interface InflationRoom {
  /** Called with a size before the body may take so many bytes. */
  readonly take: (bytes: number) => void;
  /** Resolves when the body may become larger than it tells. */
  readonly turn: () => Promise<void> | undefined;
}

const ANY_ROOM: InflationRoom = { take: () => {}, turn: () => undefined };

/**
 * Inflates a body, on another thread, into one buffer. Room is taken for the size that the body
 * tells at its end, so that one without room is never inflated. One that becomes larger, because it
 * has several parts or lies, takes room for all that it can become, and waits for its turn. A body
 * that grows beyond `bytesMax` is given up, so that it is never whole in memory. If `room` throws
 * an `AppError`, the body is given up, too, and the error is thrown. The memory of what is given up
 * is given back at once.
 */
export async function inflateBody(
  packed: Uint8Array,
  bytesMax: number,
  room: InflationRoom = ANY_ROOM,
): Promise<Inflated> {
  const told = Math.min(toldBytes(packed), bytesMax);
  room.take(told);
  let inflated = roomFor(told);
  let length = 0;
  let isWhole = false;
  try {
    const gunzip = createGunzip({ chunkSize: STEP_BYTES });
    for await (const step of Readable.from(copiesOf(packed)).pipe(gunzip)) {
      const wanted = length + step.length;
      if (wanted > bytesMax) return "oversized";
      if (wanted > inflated.length) {
        if (inflated.length === told) {
          room.take(Math.min(packed.length * RATIO_MAX, bytesMax));
          await room.turn();
        }
        const larger = roomFor(Math.min(Math.max(wanted, 2 * inflated.length), bytesMax));
        larger.set(inflated);
        giveBack(inflated);
        inflated = larger;
      }
      inflated.set(step, length);
      length = wanted;
    }
    isWhole = true;
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    return "broken";
  } finally {
    if (!isWhole) giveBack(inflated);
  }
  return inflated.subarray(0, length);
}

/** How long the last part of a body was: of most bodies, which have one, all of it. */
function toldBytes(packed: Uint8Array): number {
  if (packed.length < 4) return 0;
  const { buffer, byteOffset } = packed;
  return new DataView(buffer, byteOffset).getUint32(packed.length - 4, true);
}

function roomFor(bytes: number): Uint8Array {
  return bytes < STEP_BYTES ? new Uint8Array(bytes) : bufferFor(bytes);
}

/** Bun inflates no bytes whose buffer can be made smaller, as that of a long body can. */
function* copiesOf(packed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < packed.length; at += STEP_BYTES) yield packed.slice(at, at + STEP_BYTES);
}
