import { etagOf, matchesEtag } from "./etag.ts";
import type { RequestContext } from "./request-context.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** A 200 that says what a request has done. */
export function answer(context: RequestContext, body: unknown): Response {
  return new Response(JSON.stringify(body), {
    headers: {
      "Content-Type": JSON_TYPE,
      "Cache-Control": "no-store",
      ...context.headers,
    },
  });
}

/**
 * A 200 with what was read, or a 304 when the client holds the same bytes. `link` is the value of a
 * `Link` header.
 */
export function answerRead(
  context: RequestContext,
  request: Request,
  body: unknown,
  link?: string,
): Response {
  const bytes = JSON.stringify(body);
  const etag = etagOf(bytes);
  const headers: Record<string, string> = {
    ETag: etag,
    "Cache-Control": "private, no-cache",
    Vary: "Authorization, X-Project-Id",
    ...context.headers,
  };
  if (link !== undefined) headers.Link = link;
  const known = request.headers.get("if-none-match");
  if (known !== null && matchesEtag(known, etag))
    return new Response(null, { status: 304, headers });
  headers["Content-Type"] = JSON_TYPE;
  return new Response(bytes, { headers });
}
