import { isObject } from "../../shared/json.ts";
import { chunksOf, type Pause } from "../../shared/turns.ts";
import { answerInParts, type Parts } from "./answer-parts.ts";
import { etagOf, matchesEtag, tagInParts } from "./etag.ts";
import type { RequestContext } from "./request-context.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** A 200 that reports what a request did. */
export function answer(context: RequestContext, body: unknown): Response {
  return answerJson(context, JSON.stringify(body));
}

function answerJson(context: RequestContext, json: string): Response {
  return new Response(json, { headers: headersOfAnswer(context, Buffer.byteLength(json)) });
}

function headersOfAnswer(context: RequestContext, bytes: number): Record<string, string> {
  return {
    "Content-Type": JSON_TYPE,
    "Content-Length": String(bytes),
    "Cache-Control": "no-store",
    ...context.headers,
  };
}

/** The same for an object that may have long lists, of which JSON is made in parts. */
export async function answerLong(context: RequestContext, body: object): Promise<Response> {
  if (!holdsLong(body)) return answer(context, body);
  const { parts, bytes } = await partsOfJson(body, context.pause);
  return answerInParts(parts, { headers: headersOfAnswer(context, bytes) });
}

/** JSON of so many items takes longer than a turn should. */
const LONG_LIST = 64;

/** Items that are made JSON in a fraction of a turn. */
const ITEMS_AT_ONCE = 32;

/** Characters of a part, but for the last, at least. */
const PART_LENGTH = 64 * 1024;

/** JSON in parts, as it is sent. */
interface PartsOfJson {
  readonly parts: Parts;
  readonly bytes: number;
}

/** What `JSON.stringify` makes of an object; the turn may end after each piece. */
async function partsOfJson(
  body: object,
  pause: Pause,
  onPart: (part: Uint8Array) => void = () => {},
): Promise<PartsOfJson> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let text = "";
  const endPart = () => {
    const part = new TextEncoder().encode(text);
    onPart(part);
    bytes += part.length;
    parts.push(part);
    text = "";
  };
  for (const piece of piecesOf(body)) {
    text += piece;
    if (text.length >= PART_LENGTH) endPart();
    await pause();
  }
  if (text !== "") endPart();
  return { parts, bytes };
}

/** The JSON of an object in order, of which each piece is made in a fraction of a turn. */
function* piecesOf(body: object): Generator<string> {
  if (!holdsLong(body)) {
    yield JSON.stringify(body);
    return;
  }
  let before = "{";
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ",";
    if (isLong(value) || hasLongItems(value)) yield* piecesOfList(value);
    else yield JSON.stringify(value);
  }
  yield "}";
}

function* piecesOfList(items: readonly unknown[]): Generator<string> {
  let before = "[";
  for (const some of chunksOf(items, isLong(items) ? ITEMS_AT_ONCE : 1)) {
    yield before;
    before = ",";
    const [first] = some;
    if (!isLong(items) && holdsLong(first)) yield* piecesOf(first);
    else yield JSON.stringify(some).slice(1, -1);
  }
  yield "]";
}

/** Whether it has a long list, or its items have. */
function holdsLong(value: unknown): value is object {
  if (!isObject(value)) return false;
  return Object.values(value).some((each) => isLong(each) || hasLongItems(each));
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > LONG_LIST;
}

function hasLongItems(value: unknown): value is readonly object[] {
  return Array.isArray(value) && value.length <= LONG_LIST && value.some(holdsLong);
}

/** What was read, for the client: a 200, or a 304 if it has the same bytes. */
interface Read<Body> {
  readonly body: Body;
  /** The value of a `Link` header. */
  readonly link?: string | undefined;
}

/** A 200 with what was read, or a 304. */
export function answerRead(
  context: RequestContext,
  request: Request,
  { body, link }: Read<unknown>,
): Response {
  return answerText(context, request, { text: textOf(JSON.stringify(body)), link });
}

/** The same for an object that may have long lists, of which JSON is made in parts. */
export async function answerLongRead(
  context: RequestContext,
  request: Request,
  { body, link }: Read<object>,
): Promise<Response> {
  return answerText(context, request, { text: await longTextOf(body, context.pause), link });
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
  const texts = new WeakMap<Subject, Text | Promise<Text>>();
  return (context, request, { subject, link }) => {
    const known = texts.get(subject);
    if (known && !(known instanceof Promise)) {
      return answerText(context, request, { text: known, link });
    }
    const making = known ?? longTextOf(bodyOf(subject), context.pause);
    texts.set(subject, making);
    return making.then((text) => {
      texts.set(subject, text);
      return answerText(context, request, { text, link });
    });
  };
}

interface Text {
  readonly body: string | Parts;
  readonly etag: string;
  readonly bytes: number;
}

function textOf(json: string): Text {
  return { body: json, etag: etagOf(json), bytes: Buffer.byteLength(json) };
}

async function longTextOf(body: object, pause: Pause): Promise<Text> {
  if (!holdsLong(body)) return textOf(JSON.stringify(body));
  const tag = tagInParts();
  const { parts, bytes } = await partsOfJson(body, pause, tag.add);
  return { body: parts, bytes, etag: tag.end() };
}

function answerText(
  context: RequestContext,
  request: Request,
  { text: { body, etag, bytes }, link }: { readonly text: Text; readonly link: string | undefined },
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
  return typeof body === "string"
    ? new Response(body, { headers })
    : answerInParts(body, { headers });
}
