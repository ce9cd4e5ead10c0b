import { cut, padded, shownColumns, wrapped } from "./text-width.ts";

const GAP = "  ";

/** So much of the last column is to be seen before others are left out for it. */
const LAST_COLUMNS_MIN = 24;

/** How a table is laid out. */
export interface TableLayout {
  /** No line takes more columns; the last cell is cut. */
  readonly width: number;
  /** Which cells of each row can be left out, by index, the least needed first. */
  readonly spare: readonly number[];
  /** The last column is to be seen whole, for a path means nothing without its end. */
  readonly isLastWhole?: boolean;
}

/**
 * Rows in aligned columns. Where they do not fit, spare columns are left out, as few as will do, so
 * that something of the last one is to be seen.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  { width, spare, isLastWhole = false }: TableLayout,
): string[] {
  const widths = columnWidths(rows);
  const lastMax = isLastWhole ? Infinity : LAST_COLUMNS_MIN;
  const left = new Set(widths.keys());
  for (const at of spare) {
    if (needed(widths, left, lastMax) <= width) break;
    left.delete(at);
  }
  return rows.map((row) => {
    const cells = row.flatMap((cell, at) => {
      if (!left.has(at)) return [];
      return at < row.length - 1 ? padded(cell, widths[at] ?? 0) : cell;
    });
    return cut(cells.join(GAP), width);
  });
}

/**
 * Rows in aligned columns, where the last cell is a sentence: it goes on below itself where it is
 * wider than what is left of the width.
 */
export function tableOfSentences(rows: readonly (readonly string[])[], width: number): string[] {
  const widths = columnWidths(rows);
  return rows.flatMap((row) => {
    const cells = row.slice(0, -1).map((cell, at) => padded(cell, widths[at] ?? 0) + GAP);
    const before = cells.join("");
    return wrapped(before + (row.at(-1) ?? ""), width, shownColumns(before));
  });
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, shownColumns(cell));
    }
  }
  return widths;
}

function needed(widths: readonly number[], left: ReadonlySet<number>, lastMax: number): number {
  const last = widths.length - 1;
  const taken = [...left].map((at) => {
    const width = widths[at] ?? 0;
    return at === last ? Math.min(width, lastMax) : width;
  });
  return taken.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
}
