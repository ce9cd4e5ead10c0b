/**
 * What a terminal shows of what a program wrote: enough of ECMA-48 for the sequences that memsync
 * uses. Anything else throws, so that no test reads a screen that would look otherwise.
 */
export class TerminalScreen {
  #columns: number;
  #rows: number;
  #main: string[] = [];
  #other: string[] = [];
  #at = { row: 0, column: 0 };
  /** Where the cursor was when the other screen was entered. */
  #kept = this.#at;
  #pending = "";
  isOther = false;
  isCursorShown = true;
  isWrapping = true;
  /** How often a line was too wide for the terminal, and went on in the next. */
  wraps = 0;

  constructor(columns: number, rows: number) {
    this.#columns = columns;
    this.#rows = rows;
  }

  /** Its lines from the top, without what is blank at their ends. */
  get lines(): string[] {
    return Array.from({ length: this.#rows }, (_, row) => (this.#grid[row] ?? "").trimEnd());
  }

  get text(): string {
    return this.lines.join("\n");
  }

  resize(columns: number, rows: number): void {
    this.#columns = columns;
    this.#rows = rows;
  }

  write(written: string): void {
    let rest = this.#pending + written;
    this.#pending = "";
    while (rest !== "") {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal obeys
      const [sequence] = /^\u001b(\[[?\d;]*[A-Za-z]?)?/.exec(rest) ?? [];
      if (sequence === undefined) {
        this.#put(rest[0] ?? "");
        rest = rest.slice(1);
      } else if (/[A-Za-z]$/.test(sequence)) {
        this.#obey(sequence.slice(2));
        rest = rest.slice(sequence.length);
      } else {
        this.#pending = rest;
        return;
      }
    }
  }

  get #grid(): string[] {
    return this.isOther ? this.#other : this.#main;
  }

  #put(character: string): void {
    const { row, column } = this.#at;
    if (character === "\r") this.#at.column = 0;
    else if (character === "\n") this.#down();
    else if (character >= " ") {
      if (column >= this.#columns && !this.isWrapping) return;
      if (column >= this.#columns) {
        this.wraps += 1;
        this.#at.column = 0;
        this.#down();
        this.#put(character);
        return;
      }
      const line = (this.#grid[row] ?? "").padEnd(column);
      this.#grid[row] = line.slice(0, column) + character + line.slice(column + 1);
      this.#at.column += 1;
    }
  }

  #down(): void {
    this.#at.row += 1;
    if (this.#at.row < this.#rows) return;
    this.#at.row = this.#rows - 1;
    this.#grid.shift();
  }

  #obey(sequence: string): void {
    const { row, column } = this.#at;
    const place = /^(\d+);(\d+)H$/.exec(sequence);
    if (/^[\d;]*m$/.test(sequence)) return;
    if (place) this.#at = { row: Number(place[1]) - 1, column: Number(place[2]) - 1 };
    else if (sequence === "H") this.#at = { row: 0, column: 0 };
    else if (/^0?K$/.test(sequence)) this.#clear(row, column);
    else if (/^0?J$/.test(sequence)) {
      this.#clear(row, column);
      this.#grid.length = Math.min(this.#grid.length, row + 1);
    } else if (/^\?(1049|25|7)[hl]$/.test(sequence)) this.#switch(sequence);
    else if (/^\d*G$/.test(sequence)) this.#at.column = Number.parseInt(sequence, 10) - 1;
    else throw new Error(`a sequence of no test: ${sequence}`);
  }

  /** Behind the last column the cursor is still on it until something more is written. */
  #clear(row: number, column: number): void {
    const from = Math.min(column, this.#columns - 1);
    this.#grid[row] = (this.#grid[row] ?? "").slice(0, from);
  }

  #switch(sequence: string): void {
    const isOn = sequence.endsWith("h");
    if (sequence.startsWith("?25")) this.isCursorShown = isOn;
    else if (sequence.startsWith("?7")) this.isWrapping = isOn;
    else {
      this.isOther = isOn;
      if (isOn) {
        this.#other = [];
        this.#kept = { ...this.#at };
      } else this.#at = { ...this.#kept };
    }
  }
}
