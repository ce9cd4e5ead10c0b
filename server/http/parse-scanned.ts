import type { Pause } from "../../shared/turns.ts";
import type { Binaries } from "../../shared/wire/exchange.ts";
import type { JsonScan, ScannedList } from "./json-scan.ts";
import { parseLongTexts, type Span } from "./long-texts.ts";

/** For the beginning of a text. It drops a byte order mark. */
const decoder = new TextDecoder("utf-8", { fatal: true });

/** For the rest of a text, where a byte order mark is not JSON. */
const innerDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A text of JSON as a value. */
export interface Scanned {
  readonly value: unknown;
  /** Of its long texts, which the value has stand-ins for: those that are base64. */
  readonly binaries: Binaries;
}

/** In place of some bytes of a text. */
interface Replaced extends Span {
  readonly by: string;
}

/**
 * What `JSON.parse` makes of a scanned text, but for long texts in it, in whose place there are
 * stand-ins; throws where that would. The lists of the outermost object are parsed by pieces where
 * one is long, long texts as well, and `pause` may end the turn between two.
 *
 * The text is valid if it is with a number in place of each list's content, and each piece is as
 * the content of a list: pieces end where the scan found a comma directly in the list.
 */
export async function parseScanned(
  bytes: Uint8Array,
  { lists, longTexts }: Pick<JsonScan, "lists" | "longTexts">,
  pause: Pause,
): Promise<Scanned> {
  const isShort = longTexts.length === 0;
  if (isShort && lists.every(({ cuts }) => cuts.length === 0))
    return { value: JSON.parse(decoder.decode(bytes)), binaries: new Map() };
  const { standIns, binaries } = await parseLongTexts(bytes, longTexts, pause);
  const texts = longTexts.map((span, at) => ({ ...span, by: standIns[at] ?? "" }));
  return { value: await parseLists(bytes, { lists, texts }, pause), binaries };
}

async function parseLists(
  bytes: Uint8Array,
  { lists, texts }: { readonly lists: readonly ScannedList[]; readonly texts: readonly Replaced[] },
  pause: Pause,
): Promise<unknown> {
  const numbers = lists.map((list, number) => ({ ...list, by: String(number) }));
  const outside = texts.filter((text) => !lists.some((list) => isWithin(text, list)));
  const replaced = [...numbers, ...outside].sort((one, other) => one.start - other.start);
  const whole = { start: 0, end: bytes.length };
  const around: unknown = JSON.parse(decoder.decode(withReplaced(bytes, whole, replaced)));
  const parsed: unknown[][] = [];
  for (const list of lists) parsed.push(await parseList(bytes, { list, texts }, pause));
  if (typeof around !== "object" || around === null) return around;
  // JSON has just made it, and nobody else has it yet: its fields may be written.
  const fields = around as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) {
    // Every list directly in this object holds the number of its content.
    if (Array.isArray(value)) fields[name] = parsed[Number(value[0])];
  }
  return around;
}

function isWithin(inner: Span, { start, end }: Span): boolean {
  return inner.start >= start && inner.end <= end;
}

/** The bytes of a span with others in place of some of them; `replaced`: in order. */
function withReplaced(bytes: Uint8Array, span: Span, replaced: readonly Replaced[]): Uint8Array {
  if (replaced.length === 0) return bytes.subarray(span.start, span.end);
  const parts: Uint8Array[] = [];
  let at = span.start;
  for (const { start, end, by } of replaced) {
    parts.push(bytes.subarray(at, start), Buffer.from(by));
    at = end;
  }
  return Buffer.concat([...parts, bytes.subarray(at, span.end)]);
}

async function parseList(
  bytes: Uint8Array,
  { list, texts }: { readonly list: ScannedList; readonly texts: readonly Replaced[] },
  pause: Pause,
): Promise<unknown[]> {
  const items: unknown[] = [];
  const ends = [...list.cuts, list.end];
  let start = list.start;
  for (const end of ends) {
    await pause();
    const piece = { start, end };
    const within = texts.filter((text) => isWithin(text, piece));
    const text = innerDecoder.decode(withReplaced(bytes, piece, within));
    const some: unknown[] = JSON.parse(`[${text}]`);
    if (some.length === 0 && list.cuts.length > 0)
      throw new SyntaxError("a comma follows no value");
    for (const item of some) items.push(item);
    start = end + 1;
  }
  return items;
}
