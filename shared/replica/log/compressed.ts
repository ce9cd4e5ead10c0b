import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/** `quick` keeps a write waiting (1 ms for 300 KB), `thorough` the sweep (10 ms for 1 MB). */
type Effort = "quick" | "thorough";

const QUALITY: Record<Effort, number> = { quick: 1, thorough: 5 };

/** 2^21 bytes: what is 2 MB apart is still found to be the same. */
const WINDOW_BITS = 21;

/**
 * Compresses with Brotli: its window takes in a key's whole history, where deflate sees 32 KB, and
 * both runtimes have it, where Node 20 has no zstd.
 */
export function compress(bytes: Uint8Array, effort: Effort): Uint8Array {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY[effort],
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

/** What was compressed. Throws for anything else, and where it is not `bytes` long. */
export function decompress(payload: Uint8Array, bytes: number): Uint8Array {
  const found = brotliDecompressSync(payload, { maxOutputLength: Math.max(bytes, 1) });
  if (found.length !== bytes) throw new Error(`${found.length} bytes instead of ${bytes}`);
  return found;
}
