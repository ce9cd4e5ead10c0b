/** RFC 4648 base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/**
 * The bytes of canonical, padded base64; undefined for anything else. Buffer alone skips unknown
 * characters, and would read a damaged text as other bytes.
 */
export function decodeBase64(encoded: string): Uint8Array | undefined {
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
