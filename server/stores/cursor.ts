import { createHash } from "node:crypto";
import { invalidAt } from "../../shared/errors.ts";

/** The end of a page: its last item's sort value and id. */
export interface PageEnd {
  readonly sort: number;
  readonly id: string;
}

type ListName = "memories" | "found" | "projects" | "sessions";

/** A list as it was asked for. A cursor is valid for no other. */
export interface AskedList {
  readonly list: ListName;
  /** What the query names, in a fixed order; nothing where a list has no choice. */
  readonly by?: readonly (string | undefined)[];
}

/** So much of a hash that queries are not mistaken for each other. */
const HASH_LENGTH = 12;

function hashOf({ by = [] }: AskedList): string {
  if (by.every((each) => each === undefined)) return "";
  // JSON turns an absent value into null, which no given one is.
  return createHash("sha256").update(JSON.stringify(by)).digest("base64url").slice(0, HASH_LENGTH);
}

/** An opaque cursor that `parseCursor` understands. */
function formatCursor(asked: AskedList, end: PageEnd): string {
  const parts = [asked.list, hashOf(asked), end.sort, end.id];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** Throws a 400 for anything that `pageOf` did not make for this list. */
export function parseCursor(asked: AskedList, cursor: string | undefined): PageEnd | undefined {
  if (cursor === undefined) return undefined;
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(decoded) && decoded.length === 4) {
      const [list, hash, sort, id]: readonly unknown[] = decoded;
      const isOfThis = list === asked.list && hash === hashOf(asked);
      if (isOfThis && typeof id === "string" && isWhole(sort) && isIdOf(asked.list, id))
        return { sort, id };
    }
  } catch {
    // Refused below, like any other bad cursor.
  }
  throw invalidAt("cursor", "the cursor is not one that this list has given");
}

function isWhole(sort: unknown): sort is number {
  return Number.isSafeInteger(sort);
}

/** Of a list of memories it is a row's number, of any other a text. */
function isIdOf(list: ListName, id: string): boolean {
  return list === "memories" ? /^-?\d{1,16}$/.test(id) : !id.includes("\0");
}

/**
 * Makes a page from rows that were read with one more than `limit`. `endOf` returns the sort value
 * and id from which the next page continues.
 *
 * ```
 * const asked = { list: "projects" } as const;
 * const from = parseCursor(asked, cursor);
 * const page = pageOf(asked, await rowsAfter(from, limit + 1), { limit, endOf });
 * ```
 */
export function pageOf<Row>(
  asked: AskedList,
  rows: readonly Row[],
  { limit, endOf }: { readonly limit: number | undefined; readonly endOf: (row: Row) => PageEnd },
): { readonly rows: readonly Row[]; readonly nextCursor: string | null } {
  if (limit === undefined || rows.length <= limit) return { rows, nextCursor: null };
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, nextCursor: last === undefined ? null : formatCursor(asked, endOf(last)) };
}
