import { createHash } from "node:crypto";

/**
 * The `Content-Security-Policy` of a page with one style and one script of its own: nothing else
 * runs, and it calls nothing but where it came from.
 */
export function ownPolicy(style: string, script: string): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
