import { AppError } from "../../shared/errors.ts";
import { LIMITS } from "../../shared/limits.ts";
import { NO_PAUSE, type Pause } from "../../shared/turns.ts";
import type { Binaries } from "../../shared/wire/exchange.ts";
import { leaseOf } from "./body-budget.ts";
import { arrivedInTime, bodyChunks } from "./body-deadline.ts";
import { bufferFor, giveBack } from "./garbage.ts";
import { inflateBody, isGzip, isUnknownEncoding } from "./inflate-body.ts";
import { JsonScan } from "./json-scan.ts";
import { LONG_TEXT_BYTES } from "./long-texts.ts";
import { parseScanned, type Scanned } from "./parse-scanned.ts";
import { bodyRead } from "./watched-body.ts";

/**
 * A body over its limit is read up to this size and discarded, because most clients read no answer
 * before they have sent everything.
 */
const DISCARDED_BYTES_MAX = 256 * 1024 * 1024;

/** A body that was valid JSON. Its content is not checked yet. */
export interface JsonBody {
  readonly value: unknown;
  /** What the value's stand-ins for long texts stand for. */
  readonly binaries: Binaries;
  /** The value with its long texts. They are parsed in one turn. */
  readonly withTexts: () => Promise<unknown>;
  /** The body as it came, inflated where it was compressed. */
  readonly raw: Uint8Array;
  /** Gives the memory of a large `raw` back at once, which is empty afterwards. */
  readonly free: () => void;
}

/** How a body is read; by default whole, in one turn, and as a plain call's. */
interface ReadOptions {
  /** May end the turn. */
  readonly pause?: Pause;
  /** It may have lists within its lists, of which many parts are parsed at once. */
  readonly isSeed?: boolean;
  /** What is longer than any text of a plain body is of use only for what it is in base64. */
  readonly takesBinaries?: boolean;
}

/**
 * The body as JSON, whatever its `Content-Type`, and inflated if its `Content-Encoding` is gzip;
 * undefined if it is empty. Bytes are counted as they arrive and as they inflate. Throws a 400 for
 * more than `bytesMax` bytes, and for anything but JSON in UTF-8.
 */
export async function readJson(
  request: Request,
  bytesMax: number,
  { pause = NO_PAUSE, isSeed = false, takesBinaries = false }: ReadOptions = {},
): Promise<JsonBody | undefined> {
  const sent = await readBytes(request, bytesMax, pause);
  if (sent.length === 0) return undefined;
  if (isUnknownEncoding(request.headers))
    throw invalidBody("the body's Content-Encoding is not understood: gzip alone is, or none");
  const bytes = isGzip(request.headers) ? await inflated(request, sent, bytesMax) : sent;
  if (bytes !== sent) giveBack(sent);
  const isKept = bodyRead(request, bytes);
  const scan = await scanJson(bytes, { pause, isSeed, takesBinaries });
  const lease = leaseOf(request);
  lease?.growTo(bytes.length + scan.parts * PART_BYTES);
  await lease?.turn();
  const { value, binaries } = await parseJson(bytes, scan, pause);
  const withTexts = async () => {
    if (scan.longTexts.length === 0) return value;
    return (await parseJson(bytes, { lists: scan.lists, longTexts: [] }, pause)).value;
  };
  return { value, binaries, withTexts, raw: bytes, free: () => isKept || giveBack(bytes) };
}

/** The body of a request that must have one, at most `LIMITS.bodyBytes` long. */
export async function readRequiredJson(request: Request, pause: Pause): Promise<JsonBody> {
  const body = await readJson(request, LIMITS.bodyBytes, { pause });
  if (body === undefined) throw emptyBody();
  return body;
}

/** The 400 for an empty body where one is needed. */
export function emptyBody(): AppError {
  return invalidBody("the body is empty; JSON is expected");
}

/** The 400 for a body of more than `bytesMax`. */
export function tooLarge(bytesMax: number): AppError {
  return invalidBody(`the body is larger than ${bytesMax} bytes`);
}

function invalidBody(message: string): AppError {
  return new AppError("invalid_request", message);
}

async function inflated(request: Request, sent: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  const lease = leaseOf(request);
  const bytes = await inflateBody(sent, bytesMax, {
    take: (length) => lease?.growTo(sent.length + length),
    turn: () => lease?.turn(),
  });
  if (bytes === "oversized") throw tooLarge(bytesMax);
  if (bytes === "broken") throw invalidBody("the body is not the gzip that its header announces");
  return bytes;
}

/** So much is scanned in a fraction of a turn. */
const SCANNED_BYTES = 64 * 1024;

/** What an array, an object or a comma becomes when it is parsed: measured on both runtimes. */
const PART_BYTES = 64;

/** Throws the 400 for what would take too much to parse. */
async function scanJson(
  bytes: Uint8Array,
  { pause, isSeed, takesBinaries }: Required<ReadOptions>,
): Promise<JsonScan> {
  const scan = new JsonScan(bytes, {
    ...(isSeed && { partsAtOnceMax: Number.POSITIVE_INFINITY }),
    ...(takesBinaries && { longTextBytes: LONG_TEXT_BYTES }),
  });
  for (scan.advance(SCANNED_BYTES); !scan.isDone; scan.advance(SCANNED_BYTES)) await pause();
  if (scan.isTooIntricate) throw invalidBody("the body is nested too deeply or in too many parts");
  return scan;
}

async function parseJson(
  bytes: Uint8Array,
  scan: Pick<JsonScan, "lists" | "longTexts">,
  pause: Pause,
): Promise<Scanned> {
  try {
    return await parseScanned(bytes, scan, pause);
  } catch {
    // The runtime's own message quotes the body.
    throw invalidBody("the body is not JSON in UTF-8");
  }
}

async function readBytes(request: Request, bytesMax: number, pause: Pause): Promise<Uint8Array> {
  const declared = declaredBytes(request.headers);
  if (Number.isNaN(declared)) throw invalidBody("the body's Content-Length is not one number");
  try {
    const bytes =
      declared !== undefined && declared <= bytesMax
        ? await arrivedInTime(request, (late) => readDeclared(request, { declared, pause, late }))
        : await arrivedInTime(request, (late) =>
            readCounting(request, { bytesMax, declared, late }),
          );
    if (bytes !== undefined && bytes.length <= bytesMax) return bytes;
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw invalidBody("the body broke off");
  }
  throw tooLarge(bytesMax);
}

/**
 * HTTP ends a body at its declared length, so it need not be counted, which would take a stream.
 */
function declaredBytes(headers: Headers): number | undefined {
  const declared = headers.get("content-length");
  return declared === null ? undefined : Number(declared);
}

/**
 * Longer bodies are written where they stay as they come, by so much a turn: Node has all of one
 * twice otherwise, and Bun moves it whenever it has outgrown its place.
 */
const LONG_BYTES = process.versions.bun === undefined ? 16 * 1024 : 1024 * 1024;

/** What came in others' turns is copied by so many bytes, each in a fraction of a turn. */
const COPIED_BYTES = 1024 * 1024;

async function readDeclared(
  request: Request,
  {
    declared,
    pause,
    late,
  }: { readonly declared: number; readonly pause: Pause; readonly late: AbortSignal },
): Promise<Uint8Array> {
  if (declared <= LONG_BYTES || request.body === null)
    return new Uint8Array(await request.arrayBuffer());
  const bytes = bufferFor(declared);
  let length = 0;
  for await (const chunk of bodyChunks(request.body, late)) {
    for (let at = 0; at < chunk.length; at += COPIED_BYTES) {
      bytes.set(chunk.subarray(at, at + COPIED_BYTES), length + at);
      await pause();
    }
    length += chunk.length;
  }
  return bytes.subarray(0, length);
}

/** Undefined for more than `bytesMax`, of which nothing is kept once that is known. */
async function readCounting(
  request: Request,
  {
    bytesMax,
    declared,
    late,
  }: {
    readonly bytesMax: number;
    readonly declared: number | undefined;
    readonly late: AbortSignal;
  },
): Promise<Uint8Array | undefined> {
  if (request.body === null) return new Uint8Array();
  const lease = leaseOf(request);
  const chunks: Uint8Array[] = [];
  let length = 0;
  let isTooLarge = declared !== undefined;
  for await (const chunk of bodyChunks(request.body, late)) {
    length += chunk.length;
    isTooLarge ||= length > bytesMax;
    if (isTooLarge) {
      chunks.length = 0;
      lease?.release();
    } else {
      lease?.growTo(length);
      chunks.push(chunk);
    }
    if (length > DISCARDED_BYTES_MAX) break;
  }
  return isTooLarge ? undefined : Buffer.concat(chunks, length);
}
