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

/** A body inflates by this much before anybody is told. */
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
    for await (const step of createGunzip({ chunkSize: STEP_BYTES }).end(packed)) {
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
