import { cut, padded, shownColumns, wrapped } from "./text-width.ts";

const GAP = "  ";

/** Columns are left out until this much of the last one is visible. */
const LAST_COLUMNS_MIN = 24;

/** The layout of a table. */
export interface TableLayout {
  /** The width of a line. What is longer is cut. */
  readonly width: number;
  /** The columns that may be left out, by index, the least needed first. */
  readonly spare: readonly number[];
  /**
   * The last column must be completely visible, as for paths. It is wrapped within its column, and
   * only a word that is too long for a line is cut.
   */
  readonly isLastWhole?: boolean;
}

/** With less room than this the last column stands below its row, indented. */
const LAST_COLUMNS_BESIDE = 12;
/** Such a row's columns are not cut to less, so that an id is whole. */
const NARROW_MIN = 8;
const BELOW = "  ";

/**
 * Rows in aligned columns. If they do not fit, as few spare columns as possible are left out, so
 * that a part of the last one is visible. Where that is not enough, it stands below the others, of
 * which the widest are cut, so that each is seen.
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
  const isBelow = left.size > 1 && needed(widths, left, LAST_COLUMNS_BESIDE) > width;
  const shown = isBelow ? narrowed(widths, left, width) : widths;
  return rows.flatMap((row) => {
    const cells = row.flatMap((cell, at) => {
      if (!left.has(at)) return [];
      const columns = shown[at] ?? 0;
      return at < row.length - 1 ? padded(cut(cell, columns), columns) : cell;
    });
    if (isBelow) {
      const first = cells.slice(0, -1).join(GAP).trimEnd();
      const below = BELOW + (row.at(-1) ?? "");
      const lines = isLastWhole ? wrapped(below, width, BELOW.length) : [below];
      return [first, ...lines].map((each) => cut(each, width));
    }
    const line = cells.join(GAP);
    if (!isLastWhole) return [cut(line, width)];
    const before = shownColumns([...cells.slice(0, -1), ""].join(GAP));
    const lines = wrapped(line, width, before);
    // If nothing of the last cell fits beside the others, the line is only cut.
    if (shownColumns(lines[0] ?? "") <= before) return [cut(line, width)];
    return lines.map((each) => cut(each, width));
  });
}

/** How much of a last column is seen, beside these or below them. */
export function roomOfLast(rows: readonly (readonly string[])[], width: number): number {
  const beside = columnWidths(rows).reduce((left, columns) => left - columns - GAP.length, width);
  return beside < LAST_COLUMNS_BESIDE ? width - BELOW.length : beside;
}

/** Rows in aligned columns that end with a sentence, which is wrapped within its column. */
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

/** The columns' widths where all but the last are to fit into a line. */
function narrowed(
  widths: readonly number[],
  left: ReadonlySet<number>,
  width: number,
): readonly number[] {
  const shown = [...widths];
  const above = [...left].filter((at) => at < widths.length - 1);
  const widthOf = (at: number) => shown[at] ?? 0;
  let over = above.reduce((sum, at) => sum + widthOf(at) + GAP.length, -GAP.length) - width;
  for (; over > 0; over--) {
    const widest = above.reduce((one, other) => (widthOf(other) > widthOf(one) ? other : one));
    if (widthOf(widest) <= NARROW_MIN) break;
    shown[widest] = widthOf(widest) - 1;
  }
  return shown;
}

function needed(widths: readonly number[], left: ReadonlySet<number>, lastMax: number): number {
  const last = widths.length - 1;
  const taken = [...left].map((at) => {
    const width = widths[at] ?? 0;
    return at === last ? Math.min(width, lastMax) : width;
  });
  return taken.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
}
