/** What a table says of a name: `password: hunter-2-Xq9`. */
export interface TableAssignment {
  readonly text: string;
  /** The line of its value; the first line is 0. */
  readonly line: number;
}

/** What may be said of a secret. The rules decide whether it is one. */
const SECRET_WORD =
  /pass|pwd?\b|\bpw|kennwort|contrase[ñn]a|senha|secret|token|key|cred|authorization|bearer/i;

/** The line between a table's head and its rows. */
const SEPARATOR =
  /^[ \t>]{0,20}\|?[ \t]*:?-{1,200}:?[ \t]*(?:\|[ \t]*:?-{1,200}:?[ \t]*){0,60}\|?$/;
const ROW = /^[ \t>]{0,20}\|/;

/** A cell that is longer is prose; a row with more cells is no table of a person's. */
const CELL_LENGTH_MAX = 600;
const NAME_LENGTH_MAX = 60;
const CELLS_MAX = 40;

/**
 * What the tables of a Markdown text assign to names that may be a secret's: each cell of a column
 * to its heading, and each cell of a row to the cells before it.
 *
 * ```
 * tableAssignments("| user | password |\n|---|---|\n| ann | hunter-2-Xq9 |");
 * // [{ text: "password: hunter-2-Xq9", line: 2 }]
 * ```
 */
export function tableAssignments(text: string): TableAssignment[] {
  if (!text.includes("|")) return [];
  const found: TableAssignment[] = [];
  const rows = text.split("\n");
  let headings: readonly string[] = [];
  for (const [line, row] of rows.entries()) {
    if (!row.includes("|")) headings = [];
    else if (isSeparator(rows[line + 1])) headings = namesIn(cellsOf(row));
    else if (headings.length > 0 || ROW.test(row)) {
      for (const assigned of assignmentsOf(cellsOf(row), headings)) {
        found.push({ text: assigned, line });
      }
    }
  }
  return found;
}

function isSeparator(row: string | undefined): boolean {
  return row?.includes("-") === true && SEPARATOR.test(row.trimEnd());
}

function assignmentsOf(cells: readonly string[], headings: readonly string[]): Set<string> {
  const names = namesIn(cells);
  return new Set(
    cells.flatMap((value, at) => {
      if (value === "") return [];
      const named = [headings[at] ?? "", ...names.slice(0, at)];
      return named.filter((name) => name !== "").map((name) => `${name}: ${value}`);
    }),
  );
}

/** The cells that may name a secret, each without what explains it; "" for every other cell. */
function namesIn(cells: readonly string[]): string[] {
  return cells.map((cell) => {
    if (cell.length > NAME_LENGTH_MAX || !SECRET_WORD.test(cell)) return "";
    return cell.replace(/(?:[(:]|\b(?:for|of|on|to)\b).*$/i, "").trim();
  });
}

/** The cells of a row, without the marks that Markdown puts around a word. */
function cellsOf(row: string): string[] {
  return row
    .trim()
    .replace(/^[> \t]*\|/, "")
    .replace(/\|$/, "")
    .split(/(?<!\\)\|/, CELLS_MAX)
    .map((cell) => (cell.length > CELL_LENGTH_MAX ? "" : withoutMarks(cell.trim())));
}

function withoutMarks(cell: string): string {
  return cell.replace(/^[*_`"']+|[*_`"']+$/g, "");
}
