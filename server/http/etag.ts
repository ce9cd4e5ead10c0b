import { createHash } from "node:crypto";

/**
 * A strong entity tag of a response's text. On Bun a 64-bit wyhash, which takes a fifth of SHA-1's
 * time: the only one who could be fooled by a made collision is the account that made it. Node has
 * no such thing built in. Equal texts have equal tags on one runtime.
 */
export const etagOf: (text: string) => string = typeof Bun === "undefined" ? sha1Tag : wyhashTag;

function wyhashTag(text: string): string {
  return `"${Bun.hash.wyhash(text).toString(36)}"`;
}

function sha1Tag(text: string): string {
  return `"${createHash("sha1").update(text).digest("base64url")}"`;
}

/** Whether an `If-None-Match` names `etag`: compared weakly, as RFC 9110 13.1.2 has it for GET. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  // No tag of ours has a comma in it.
  return ifNoneMatch.split(",").some((listed) => listed.trim().replace(/^W\//, "") === etag);
}
