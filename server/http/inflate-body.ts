import { promisify } from "node:util";
import { gunzip } from "node:zlib";

const inflate = promisify(gunzip);

/** Gzip makes nothing smaller than this: https://zlib.net/zlib_tech.html. */
export const GZIP_RATIO_MAX = 1032;

/** What became of a compressed body. */
export type Inflated = Uint8Array | "oversized" | "broken";

/** Whether a body came compressed by gzip. */
export function isGzip(headers: Headers): boolean {
  return /^\s*(x-)?gzip\s*$/i.test(headers.get("content-encoding") ?? "");
}

/**
 * Inflates a body, on another thread. The size is measured while it inflates: what would become
 * larger than `bytesMax` is given up there, and never in memory.
 */
export async function inflateBody(packed: Uint8Array, bytesMax: number): Promise<Inflated> {
  try {
    return await inflate(packed, { maxOutputLength: bytesMax });
  } catch (thrown) {
    const isTooLarge =
      thrown instanceof Error && "code" in thrown && thrown.code === "ERR_BUFFER_TOO_LARGE";
    return isTooLarge ? "oversized" : "broken";
  }
}
