import { invalidAt } from "../../shared/errors.ts";

/** The end of a page: its last item's sort value and id. */
export interface PageEnd {
  readonly sort: number;
  readonly id: string;
}

/** The list that a cursor belongs to. It is valid for no other. */
export type ListName = "memories" | "found" | "projects" | "sessions";

/** An opaque cursor that `parseCursor` understands. */
function formatCursor(list: ListName, end: PageEnd): string {
  return Buffer.from(JSON.stringify([list, end.sort, end.id])).toString("base64url");
}

/** Throws a 400 for anything that `pageOf` did not make for this list. */
export function parseCursor(list: ListName, cursor: string | undefined): PageEnd | undefined {
  if (cursor === undefined) return undefined;
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(decoded) && decoded.length === 3 && decoded[0] === list) {
      const [, sort, id]: readonly unknown[] = decoded;
      if (typeof id === "string" && isWhole(sort) && isIdOf(list, id)) return { sort, id };
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
 * const from = parseCursor("projects", cursor);
 * const page = pageOf("projects", await rowsAfter(from, limit + 1), { limit, endOf });
 * ```
 */
export function pageOf<Row>(
  list: ListName,
  rows: readonly Row[],
  { limit, endOf }: { readonly limit: number | undefined; readonly endOf: (row: Row) => PageEnd },
): { readonly rows: readonly Row[]; readonly nextCursor: string | null } {
  if (limit === undefined || rows.length <= limit) return { rows, nextCursor: null };
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, nextCursor: last === undefined ? null : formatCursor(list, endOf(last)) };
}
