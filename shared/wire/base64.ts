/** RFC 4648 base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** How many characters are compared at a time: a copy of a long text takes much memory. */
const COMPARED_LENGTH = 64 * 1024;

/**
 * The bytes of canonical, padded base64; undefined for anything else. Buffer alone skips unknown
 * characters, and would read a damaged text as other bytes.
 */
export function decodeBase64(encoded: string): Uint8Array | undefined {
  const bytes = Buffer.from(encoded, "base64");
  for (let at = 0; at < encoded.length; at += COMPARED_LENGTH) {
    const compared = encoded.slice(at, at + COMPARED_LENGTH);
    const begin = (at / 4) * 3;
    if (bytes.toString("base64", begin, begin + (COMPARED_LENGTH / 4) * 3) !== compared)
      return undefined;
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
