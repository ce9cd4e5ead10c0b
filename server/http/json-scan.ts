/** Levels of arrays and objects in a body. Stored values have at most 32, plus the envelope. */
const DEPTH_MAX = 128;

/** Arrays, objects and commas in a body: several times what the fullest permitted sync has. */
const PARTS_MAX = 2_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Whether JSON text is nested too deeply or has too many parts to be parsed. `JSON.parse` would
 * accept five million levels, but takes seconds and a hundred times their size in memory. Only
 * scans the bytes; invalid JSON may pass.
 */
export function isTooIntricate(bytes: Uint8Array): boolean {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth++;
      parts++;
      if (depth > DEPTH_MAX) return true;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      depth--;
    } else if (byte === COMMA) {
      parts++;
    }
  }
  return parts > PARTS_MAX;
}

/** The position of the quote that ends the string begun at `start`, or of the last byte. */
function endOfString(bytes: Uint8Array, start: number): number {
  let end = start;
  do {
    end = bytes.indexOf(QUOTE, end + 1);
    if (end === -1) return bytes.length;
  } while (isEscaped(bytes, end));
  return end;
}

function isEscaped(bytes: Uint8Array, at: number): boolean {
  let first = at;
  while (bytes[first - 1] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}
