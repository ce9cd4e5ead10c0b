import { etagOf, matchesEtag } from "./etag.ts";
import type { RequestContext } from "./request-context.ts";

/** A text that is the same for everybody and changes only with the program. */
export interface PublicDocument {
  readonly text: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `contentPolicy` is the text's `Content-Security-Policy`. */
export function publicDocument(
  text: string,
  contentType: string,
  contentPolicy: string,
): PublicDocument {
  const etag = etagOf(text);
  const headers = {
    ETag: etag,
    "Cache-Control": "no-cache",
    Vary: "Accept-Encoding",
    "Content-Type": contentType,
    "Content-Length": String(Buffer.byteLength(text)),
    "Content-Security-Policy": contentPolicy,
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
  };
  return { text, etag, headers };
}

/** A 200 with the text, or a 304 if the client has it already. */
export function answerDocument(
  context: RequestContext,
  request: Request,
  { text, etag, headers }: PublicDocument,
): Response {
  const known = request.headers.get("if-none-match");
  const isKnown = known !== null && matchesEtag(known, etag);
  // Its own policy counts: the general one allows a page nothing.
  const answered = new Headers({ ...context.headers, ...headers });
  if (!isKnown) return new Response(text, { headers: answered });
  answered.delete("Content-Length");
  return new Response(null, { status: 304, headers: answered });
}
