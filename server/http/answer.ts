import { chunksOf, type Pause } from "../../shared/turns.ts";
import { etagOf, matchesEtag } from "./etag.ts";
import type { RequestContext } from "./request-context.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** A 200 that reports what a request did. */
export function answer(context: RequestContext, body: unknown): Response {
  return answerJson(context, JSON.stringify(body));
}

function answerJson(context: RequestContext, json: string): Response {
  return new Response(json, {
    headers: {
      "Content-Type": JSON_TYPE,
      "Content-Length": String(Buffer.byteLength(json)),
      "Cache-Control": "no-store",
      ...context.headers,
    },
  });
}

/** The same for an object that may have long lists, of which JSON is made in parts. */
export async function answerLong(context: RequestContext, body: object): Promise<Response> {
  return answerJson(context, await longJson(body, context.pause));
}

/** Items that are made JSON in a fraction of a turn. */
const ITEMS_AT_ONCE = 512;

/** What `JSON.stringify` makes of an object; the turn may end within its long lists. */
async function longJson(body: object, pause: Pause): Promise<string> {
  const isLong = (value: unknown): value is readonly unknown[] =>
    Array.isArray(value) && value.length > ITEMS_AT_ONCE;
  if (!Object.values(body).some(isLong)) return JSON.stringify(body);
  const fields: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const json = isLong(value) ? await longList(value, pause) : JSON.stringify(value);
    if (json !== undefined) fields.push(`${JSON.stringify(name)}:${json}`);
  }
  return `{${fields.join(",")}}`;
}

async function longList(items: readonly unknown[], pause: Pause): Promise<string> {
  const parts: string[] = [];
  for (const some of chunksOf(items, ITEMS_AT_ONCE)) {
    await pause();
    parts.push(JSON.stringify(some).slice(1, -1));
  }
  return `[${parts.join(",")}]`;
}

/**
 * A 200 with what was read, or a 304 if the client has the same bytes. `link`: the value of a
 * `Link` header.
 */
export function answerRead(
  context: RequestContext,
  request: Request,
  { body, link }: { readonly body: unknown; readonly link?: string | undefined },
): Response {
  return answerText(context, request, { text: textOf(JSON.stringify(body)), link });
}

/**
 * Like `answerRead`, for objects that are often the same: the text that `bodyOf` makes of an object
 * is kept as long as the object exists. The object must not change.
 */
export function createAnswerAgain<Subject extends object>(
  bodyOf: (subject: Subject) => object,
): (
  context: RequestContext,
  request: Request,
  page: { readonly subject: Subject; readonly link?: string | undefined },
) => Response | Promise<Response> {
  const texts = new WeakMap<Subject, Text>();
  return (context, request, { subject, link }) => {
    const known = texts.get(subject);
    if (known) return answerText(context, request, { text: known, link });
    return longJson(bodyOf(subject), context.pause).then((json) => {
      const text = textOf(json);
      texts.set(subject, text);
      return answerText(context, request, { text, link });
    });
  };
}

interface Text {
  readonly json: string;
  readonly etag: string;
  readonly bytes: number;
}

function textOf(json: string): Text {
  return { json, etag: etagOf(json), bytes: Buffer.byteLength(json) };
}

function answerText(
  context: RequestContext,
  request: Request,
  { text: { json, etag, bytes }, link }: { readonly text: Text; readonly link: string | undefined },
): Response {
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
  headers["Content-Length"] = String(bytes);
  return new Response(json, { headers });
}
