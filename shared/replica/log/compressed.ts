import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/**
 * `quick` is for writes, which wait for it (1 ms for 300 KB); `thorough` for sweeps (10 ms for 1
 * MB).
 */
type Effort = "quick" | "thorough";

const QUALITY: Record<Effort, number> = { quick: 1, thorough: 5 };

/** 2^21 bytes: equal text is found up to 2 MB back. */
const WINDOW_BITS = 21;

/**
 * Compresses with Brotli. Its window covers a key's whole history, where deflate's has 32 KB; and
 * both runtimes have it, while Node 20 has no zstd.
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

/** Decompresses. Throws for anything else, and if the result is not `bytes` long. */
export function decompress(payload: Uint8Array, bytes: number): Uint8Array {
  const found = brotliDecompressSync(payload, { maxOutputLength: Math.max(bytes, 1) });
  if (found.length !== bytes) throw new Error(`${found.length} bytes instead of ${bytes}`);
  return found;
}
