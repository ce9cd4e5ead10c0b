/** Writes one line for the user. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes what `--json` asks for. */
export function sayJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

const COLUMN_GAP = "  ";
const NARROWEST = 40;

/**
 * Rows in aligned columns, none wider than the terminal: the last column is cut. Without a terminal
 * nothing is cut.
 */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  const width = process.stdout.isTTY ? Math.max(process.stdout.columns, NARROWEST) : Infinity;
  return rows.map((row) => {
    const cells = row.map((cell, at) =>
      at < row.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell,
    );
    const line = cells.join(COLUMN_GAP);
    return line.length > width ? `${line.slice(0, width - 1)}…` : line;
  });
}

/** The first line of a text, for a table. */
export function firstLine(text: string): string {
  const end = text.search(/[\r\n]/);
  return end === -1 ? text : `${text.slice(0, end)} …`;
}

/** `1 memory`, `2 memories`. */
export function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
