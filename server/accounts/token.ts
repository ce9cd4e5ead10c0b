import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { World } from "../../shared/world.ts";

/** The digits of base62, in the order of their values. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const PREFIX = "mst_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const TOKEN = /^mst_[0-9A-Za-z]{36}$/;

/** Larger bytes are discarded, since they would make the first digits more likely. */
const FAIR_BYTES = 256 - (256 % DIGITS.length);

/**
 * A new token: `mst_`, 30 random base62 characters (178 bits), and their CRC-32 in 6 base62
 * characters. By the CRC a mistyped token is recognised without a look-up.
 *
 * ```
 * const token = mintToken(world); // "mst_" and 36 characters
 * isWellFormedToken(token); // true
 * ```
 */
export function mintToken(world: World): string {
  let random = "";
  while (random.length < RANDOM_LENGTH) {
    for (const byte of world.randomBytes(RANDOM_LENGTH)) {
      if (byte < FAIR_BYTES && random.length < RANDOM_LENGTH) random += DIGITS[byte % 62];
    }
  }
  return `${PREFIX}${random}${checksumOf(random)}`;
}

/** Whether a text has a token's form and checksum. */
export function isWellFormedToken(text: string): boolean {
  if (!TOKEN.test(text)) return false;
  const random = text.slice(PREFIX.length, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(random);
}

/** SHA-256 in hex: all that is stored of a token. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function checksumOf(random: string): string {
  let value = crc32(random);
  let text = "";
  for (let at = 0; at < CHECKSUM_LENGTH; at++) {
    text = `${DIGITS[value % 62]}${text}`;
    value = Math.floor(value / 62);
  }
  return text;
}
