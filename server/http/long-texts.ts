import { LIMITS } from "../../shared/limits.ts";
import type { Pause } from "../../shared/turns.ts";
import { decodeBase64 } from "../../shared/wire/base64.ts";
import type { Binaries } from "../../shared/wire/exchange.ts";

/** A text of more bytes takes longer to parse than a turn should; no field of a sync holds one. */
export const LONG_TEXT_BYTES = LIMITS.claudeMdBytes;

/** A text of JSON without its quotes: where its bytes begin and end. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What stands for long texts in JSON, and what they hold. */
export interface LongTexts {
  /** In the order of the texts. None is base64. */
  readonly standIns: readonly string[];
  readonly binaries: Binaries;
}

/** A text is parsed by pieces of so many bytes, each in a fraction of a turn. */
const PIECE_BYTES = 64 * 1024;

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const SHORT_ESCAPE_LENGTH = 2;
const UNICODE_ESCAPE_LENGTH = 6;

/** A group of characters of base64, and what it holds. */
const GROUP_LENGTH = 4;
const GROUP_BYTES = 3;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** What each byte stands for in base64; -1 for nothing. */
const SEXTETS = new Int8Array(256).fill(-1);
for (const [sextet, byte] of Buffer.from(ALPHABET).entries()) SEXTETS[byte] = sextet;

const NOTHING = new Uint8Array();

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses texts that are too long for one turn, and decodes those in base64. Throws where
 * `JSON.parse` would. A stand-in is longer than all other texts, so that none can be taken for it,
 * and whoever has a limit refuses it like the text.
 */
export async function parseLongTexts(
  bytes: Uint8Array,
  spans: readonly Span[],
  pause: Pause,
): Promise<LongTexts> {
  const standIns: string[] = [];
  const binaries = new Map<string, Uint8Array>();
  for (const [number, span] of spans.entries()) {
    const standIn = `${number}`.padEnd(LONG_TEXT_BYTES + 1, ".");
    const binary = await parseText(bytes, span, pause);
    if (binary) binaries.set(standIn, binary);
    standIns.push(standIn);
  }
  return { standIns, binaries };
}

/** What it holds in base64; undefined for another text. */
async function parseText(
  bytes: Uint8Array,
  { start, end }: Span,
  pause: Pause,
): Promise<Uint8Array | undefined> {
  // Zeros in so many bytes would be a turn by themselves, and only what is decoded is read.
  const binary = Buffer.allocUnsafeSlow(Math.ceil(((end - start) * 3) / 4));
  let length = 0;
  let isBase64 = true;
  let rest = "";
  for (let at = start; at < end; ) {
    const plain = isBase64 && rest === "" ? bytes.subarray(at, at + PIECE_BYTES) : NOTHING;
    const passed = decodeGroups(plain.subarray(0, end - at), binary.subarray(length));
    if (passed > 0) {
      at += passed;
      length += (passed / GROUP_LENGTH) * GROUP_BYTES;
      await pause();
      continue;
    }
    const pieceEnd = endOfPiece(bytes, at, end);
    rest += textOf(bytes.subarray(at, pieceEnd));
    at = pieceEnd;
    // The last characters alone may fill up a group.
    const whole = at < end ? rest.length - (rest.length % 4 || 4) : rest.length;
    const decoded: Uint8Array | undefined = isBase64
      ? decodeBase64(rest.slice(0, whole))
      : undefined;
    const isFilled = at < end && rest.slice(0, whole).endsWith("=");
    isBase64 = decoded !== undefined && !isFilled;
    if (decoded && isBase64) binary.set(decoded, length);
    length += decoded?.length ?? 0;
    rest = isBase64 ? rest.slice(whole) : "";
    await pause();
  }
  return isBase64 ? new Uint8Array(binary.buffer, 0, length) : undefined;
}

/**
 * Decodes groups of base64 up to anything else, without any text: of long ones much garbage would
 * be left. Returns how many bytes it passed.
 */
function decodeGroups(from: Uint8Array, into: Uint8Array): number {
  let to = 0;
  for (let at = 0; ; at += GROUP_LENGTH) {
    // Of anything else all bits are set, and so the sign is.
    const one = SEXTETS[from[at] ?? 0] ?? -1;
    const two = SEXTETS[from[at + 1] ?? 0] ?? -1;
    const three = SEXTETS[from[at + 2] ?? 0] ?? -1;
    const four = SEXTETS[from[at + 3] ?? 0] ?? -1;
    const bits = (one << 18) | (two << 12) | (three << 6) | four;
    if (bits < 0) return at;
    into[to++] = bits >> 16;
    into[to++] = bits >> 8;
    into[to++] = bits;
  }
}

function textOf(piece: Uint8Array): string {
  const text: unknown = JSON.parse(`"${decoder.decode(piece)}"`);
  if (typeof text !== "string") throw new SyntaxError("a text is no text");
  return text;
}

/** A place before `end` where neither a character is cut nor what a backslash begins. */
function endOfPiece(bytes: Uint8Array, start: number, end: number): number {
  let cut = Math.min(start + PIECE_BYTES, end);
  for (let back = 0; back < 3 && cut < end && isContinued(bytes[cut]); back++) cut--;
  const piece = bytes.subarray(start, cut);
  for (let at = piece.indexOf(BACKSLASH); at !== -1; ) {
    const isUnicode = bytes[start + at + 1] === LETTER_U;
    const next = at + (isUnicode ? UNICODE_ESCAPE_LENGTH : SHORT_ESCAPE_LENGTH);
    if (start + next > cut) return cut === end ? end : start + at;
    at = piece.indexOf(BACKSLASH, next);
  }
  return cut;
}

/** Whether a character of UTF-8 goes on with this byte. */
function isContinued(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
