import { createHash } from "node:crypto";

/**
 * A strong entity tag of an answer's text. On Bun a 64-bit wyhash, which takes a fifth of SHA-1's
 * time: a forged collision could only deceive the account that forged it. Node has no such
 * function. Equal texts have equal tags on the same runtime.
 */
export const etagOf: (text: string) => string = typeof Bun === "undefined" ? sha1Tag : wyhashTag;

function wyhashTag(text: string): string {
  return `"${Bun.hash.wyhash(text).toString(36)}"`;
}

function sha1Tag(text: string): string {
  return `"${createHash("sha1").update(text).digest("base64url")}"`;
}

/** The tag of a text that is never in memory in one piece; another than `etagOf`'s. */
export function tagInParts(): { add(part: Uint8Array): void; end(): string } {
  const hash = createHash("sha1");
  return {
    add: (part) => void hash.update(part),
    end: () => `"${hash.digest("base64url")}"`,
  };
}

/** The tag of the same text compressed by gzip. */
export function gzipTagOf(etag: string): string {
  return etag.replace(/"$/, '-gzip"');
}

/**
 * Whether an `If-None-Match` contains `etag`, or the tag of the same text compressed: compared
 * weakly, as RFC 9110 13.1.2 requires for GET.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  return lists(ifNoneMatch, etag) || holdsGzip(ifNoneMatch, etag);
}

/** Whether an `If-None-Match` contains the tag of the text compressed, and not that of the text. */
export function holdsGzip(ifNoneMatch: string, etag: string): boolean {
  return lists(ifNoneMatch, gzipTagOf(etag)) && !lists(ifNoneMatch, etag);
}

function lists(ifNoneMatch: string, etag: string): boolean {
  // Our tags contain no commas.
  return ifNoneMatch.split(",").some((listed) => listed.trim().replace(/^W\//, "") === etag);
}
