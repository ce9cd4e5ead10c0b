import type { ErrorDetail } from "../../shared/errors.ts";
import type { JsonValue } from "../../shared/json.ts";
import { LIMITS, utf8Bytes } from "../../shared/limits.ts";
import { pointerToken } from "../../shared/wire/parse.ts";
import type { Outcome } from "../service/service.ts";
import { hashOfValue, type RefusedItem } from "./plain-store.ts";
import type { SendItem } from "./refusals.ts";

/** The body of a sync call of the published interface. */
export interface PlainSyncBody {
  readonly claude_md_content?: JsonValue;
  readonly memories?: readonly { readonly key: string; readonly value: JsonValue }[];
  readonly metadata?: { readonly [key: string]: JsonValue };
}

/** Makes one call; resolves to whether it succeeded. */
export type SendBody = (body: PlainSyncBody) => Promise<Outcome<unknown>>;

/** The outcome of several calls for their items. */
export interface SentItems {
  readonly taken: readonly SendItem[];
  readonly refused: readonly RefusedItem[];
}

const BAD_REQUEST = 400;

/**
 * Where a service does not say which item it refuses, halves are tried, in at most this many calls.
 */
const CALLS_MAX = 40;

/** Length of one call's items in characters; keeps the body far below the limit. */
const PART_LENGTH_MAX = LIMITS.bodyBytes / 4;

/**
 * Sends items in as few calls as possible. An item that the service refuses with 400 is left out
 * and the rest is sent: the one that the answer's details name or, without details, the one that
 * halving finds. Any other failure ends it; what was taken before stays taken.
 */
export async function sendItems(
  items: readonly SendItem[],
  send: SendBody,
): Promise<{ readonly sent: SentItems; readonly failure: Outcome<never> | undefined }> {
  const taken: SendItem[] = [];
  const refused: RefusedItem[] = [];
  const waiting = partsOf(items);
  for (let calls = 0; waiting.length > 0; calls++) {
    const part = waiting.pop() ?? [];
    const outcome = await send(bodyOf(part));
    if (outcome.kind === "answered") {
      taken.push(...part);
      continue;
    }
    const sent = { taken, refused };
    if (outcome.kind !== "refused" || outcome.status !== BAD_REQUEST)
      return { sent, failure: outcome };
    if (calls >= CALLS_MAX) return { sent, failure: outcome };
    const named = namedIn(part, outcome.details ?? []);
    const culprits = part.length === 1 ? new Map([[part[0], outcome.message]]) : named;
    for (const [item, said] of culprits) if (item) refused.push(refusalOf(item, said));
    const rest = part.filter((item) => !culprits.has(item));
    waiting.push(...(culprits.size > 0 ? [rest] : halves(part)).filter(({ length }) => length > 0));
  }
  return { sent: { taken, refused }, failure: undefined };
}

function refusalOf({ kind, key, value }: SendItem, said: string): RefusedItem {
  return { kind, key, hash: hashOfValue(value), reason: { code: "service-refused", said } };
}

function halves(part: readonly SendItem[]): SendItem[][] {
  const middle = Math.ceil(part.length / 2);
  return [part.slice(0, middle), part.slice(middle)];
}

function partsOf(items: readonly SendItem[]): SendItem[][] {
  const parts: SendItem[][] = [];
  let length = 0;
  for (const item of items) {
    const bytes = utf8Bytes(item.key) + utf8Bytes(JSON.stringify(item.value));
    const last = parts.at(-1);
    length += bytes;
    if (last && length <= PART_LENGTH_MAX && last.length < LIMITS.memoriesPerSync) last.push(item);
    else {
      parts.push([item]);
      length = bytes;
    }
  }
  return parts.reverse();
}

function bodyOf(part: readonly SendItem[]): PlainSyncBody {
  const text = part.find(({ kind }) => kind === "text");
  const memories = part.filter(({ kind }) => kind === "memories");
  const metadata = part.filter(({ kind }) => kind === "metadata");
  return {
    ...(text && { claude_md_content: text.value }),
    ...(memories.length > 0 && { memories: memories.map(({ key, value }) => ({ key, value })) }),
    ...(metadata.length > 0 && {
      metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
    }),
  };
}

/** The items that the details name, with what they say of each. */
function namedIn(
  part: readonly SendItem[],
  details: readonly ErrorDetail[],
): Map<SendItem, string> {
  const named = new Map<SendItem, string>();
  const memories = part.filter(({ kind }) => kind === "memories");
  for (const [at, item] of [...memories.entries(), ...otherItems(part)]) {
    const place = typeof at === "number" ? `/memories/${at}` : at;
    const found = details.find(({ path }) => path === place || path.startsWith(`${place}/`));
    if (found) named.set(item, found.message);
  }
  return named;
}

function otherItems(part: readonly SendItem[]): [string, SendItem][] {
  return part.flatMap((item): [string, SendItem][] => {
    if (item.kind === "memories") return [];
    const isText = item.kind === "text";
    return [[isText ? "/claude_md_content" : `/metadata/${pointerToken(item.key)}`, item]];
  });
}
