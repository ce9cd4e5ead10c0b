import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { AppError } from "../../shared/errors.ts";

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

/** `grown` is called each time a body has inflated by this much. */
const STEP_BYTES = 64 * 1024;

/**
 * Inflates a body, on another thread, and calls `grown` with the size that it has reached. A body
 * that grows beyond `bytesMax` is given up, so that it is never whole in memory. If `grown` throws
 * an `AppError`, the body is given up, too, and the error is thrown.
 */
export async function inflateBody(
  packed: Uint8Array,
  bytesMax: number,
  grown: (bytes: number) => void = () => {},
): Promise<Inflated> {
  const steps: Uint8Array[] = [];
  let length = 0;
  try {
    const gunzip = createGunzip({ chunkSize: STEP_BYTES });
    for await (const step of Readable.from(copiesOf(packed)).pipe(gunzip)) {
      length += step.length;
      if (length > bytesMax) return "oversized";
      grown(length);
      steps.push(step);
    }
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    return "broken";
  }
  return Buffer.concat(steps, length);
}

/** Bun inflates no bytes whose buffer can be made smaller, as that of a long body can. */
function* copiesOf(packed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < packed.length; at += STEP_BYTES) yield packed.slice(at, at + STEP_BYTES);
}
