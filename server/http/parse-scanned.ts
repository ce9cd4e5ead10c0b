import type { Pause } from "../../shared/turns.ts";
import type { JsonScan, ScannedList } from "./json-scan.ts";

/** For the beginning of a text. It drops a byte order mark. */
const decoder = new TextDecoder("utf-8", { fatal: true });

/** For the rest of a text, where a byte order mark is not JSON. */
const innerDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * What `JSON.parse` makes of a scanned text; throws where that would. The lists of the outermost
 * object are parsed by pieces where one is long, and `pause` may end the turn between two.
 *
 * The text is valid if it is with a number in place of each list's content, and each piece is as
 * the content of a list: pieces end where the scan found a comma directly in the list.
 */
export async function parseScanned(
  bytes: Uint8Array,
  { lists }: Pick<JsonScan, "lists">,
  pause: Pause,
): Promise<unknown> {
  if (lists.every(({ cuts }) => cuts.length === 0)) return JSON.parse(decoder.decode(bytes));
  const around: unknown = JSON.parse(decoder.decode(withNumbers(bytes, lists)));
  const parsed: unknown[][] = [];
  for (const list of lists) parsed.push(await parseList(bytes, list, pause));
  if (typeof around !== "object" || around === null) return around;
  // JSON has just made it, and nobody else has it yet: its fields may be written.
  const fields = around as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) {
    // Every list directly in this object holds the number of its content.
    if (Array.isArray(value)) fields[name] = parsed[Number(value[0])];
  }
  return around;
}

function withNumbers(bytes: Uint8Array, lists: readonly ScannedList[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [number, { start, end }] of lists.entries()) {
    parts.push(bytes.subarray(at, start), Buffer.from(String(number)));
    at = end;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}

async function parseList(
  bytes: Uint8Array,
  { start, cuts, end }: ScannedList,
  pause: Pause,
): Promise<unknown[]> {
  const items: unknown[] = [];
  const ends = [...cuts, end];
  let at = start;
  for (const pieceEnd of ends) {
    await pause();
    const text = innerDecoder.decode(bytes.subarray(at, pieceEnd));
    const some: unknown[] = JSON.parse(`[${text}]`);
    if (some.length === 0 && cuts.length > 0) throw new SyntaxError("a comma follows no value");
    for (const item of some) items.push(item);
    at = pieceEnd + 1;
  }
  return items;
}
