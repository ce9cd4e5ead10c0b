import { Readable } from "node:stream";
import { createGzip, gzipSync } from "node:zlib";
import { answerInParts, bodyPartsOf, lengthOf, type Parts } from "./answer-parts.ts";
import { gzipTagOf, holdsGzip } from "./etag.ts";

/** Shorter answers fit into one packet anyway. */
export const UNCOMPRESSED_BYTES_MAX = 1024;

/** Up to this size compressing takes under a millisecond. Others do it on another thread. */
const AT_ONCE_BYTES_MAX = 64 * 1024;

/** Half as fast as the lowest level, and a third smaller; higher ones gain little. */
const LEVEL = 3;

const TEXT = /^(text\/|application\/(json|javascript|openapi\+json)\b|image\/svg)/;

/**
 * The answer as its client gets it: compressed if it is long and the client accepts gzip. The
 * compressed bytes have an entity tag of their own, as RFC 9110 8.8.3.3 requires. Answers without a
 * declared length, such as streams, are left alone.
 */
export function answerFor(asked: Headers, answer: Response): Response | Promise<Response> {
  const { headers } = answer;
  if (answer.status === 304) return withKnownTag(asked, answer);
  const isLong = Number(headers.get("content-length") ?? 0) > UNCOMPRESSED_BYTES_MAX;
  if (!isLong || headers.has("content-encoding")) return answer;
  if (!TEXT.test(headers.get("content-type") ?? "")) return answer;
  varyByCoding(headers);
  return acceptsGzip(asked.get("accept-encoding")) ? compressed(answer) : answer;
}

async function compressed(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  const packed = await packedOf(await bodyPartsOf(answer));
  headers.set("Content-Encoding", "gzip");
  const bytes = lengthOf(packed);
  headers.set("Content-Length", String(bytes));
  const tag = headers.get("etag");
  if (tag !== null) headers.set("ETag", gzipTagOf(tag));
  const init = { status, headers };
  // Bun tells the length of no body in parts.
  if (bytes <= AT_ONCE_BYTES_MAX) return new Response(Buffer.concat(packed), init);
  return answerInParts(packed, init);
}

const packedParts = new WeakMap<Parts, Promise<Parts>>();

/** Parts that several answers have are compressed once, however many ask for them. */
function packedOf(parts: Parts): Parts | Promise<Parts> {
  const [first, ...others] = parts;
  if (first && others.length === 0 && first.length <= AT_ONCE_BYTES_MAX) {
    return [gzipSync(first, { level: LEVEL })];
  }
  const packed = packedParts.get(parts) ?? packElsewhere(parts);
  packedParts.set(parts, packed);
  packed.catch(() => packedParts.delete(parts));
  return packed;
}

/** Compresses part by part, on another thread. */
async function packElsewhere(parts: Parts): Promise<Parts> {
  const packed: Uint8Array<ArrayBuffer>[] = [];
  const gzip = createGzip({ level: LEVEL, chunkSize: AT_ONCE_BYTES_MAX });
  for await (const piece of Readable.from(parts).pipe(gzip)) packed.push(piece);
  return packed;
}

/** A 304 names the tag that the client has. */
function withKnownTag(asked: Headers, answer: Response): Response {
  const tag = answer.headers.get("etag");
  const known = asked.get("if-none-match");
  if (tag !== null && known !== null && holdsGzip(known, tag)) {
    answer.headers.set("ETag", gzipTagOf(tag));
    varyByCoding(answer.headers);
  }
  return answer;
}

/** For caches; what has no tag is kept by none. */
function varyByCoding(headers: Headers): void {
  if (!headers.has("etag") || /accept-encoding/i.test(headers.get("vary") ?? "")) return;
  headers.append("Vary", "Accept-Encoding");
}

const CODING = /^\s*([^\s;]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i;

/** Whether gzip is accepted, and the client does not rather want the bare text: RFC 9110 12.5.3. */
export function acceptsGzip(acceptEncoding: string | null): boolean {
  if (acceptEncoding === null) return false;
  const weights = new Map<string, number>();
  for (const written of acceptEncoding.split(",")) {
    const [, coding, weight] = CODING.exec(written) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight ?? 1));
  }
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzip > 0 && gzip >= (weights.get("identity") ?? 0);
}
