/**
 * Knows every line that somebody saved and every line that somebody took away. A line is one
 * without its line break; blank ones don't count.
 */
export class TextLedger {
  readonly #known = new Set<string>();
  readonly #written = new Set<string>();
  readonly #taken = new Set<string>();
  readonly #excused = new Set<string>();
  readonly #report: (problem: string) => void;

  constructor(report: (problem: string) => void) {
    this.#report = report;
  }

  /** Somebody asks for a text, which may come to nothing. */
  proposed(text: string): void {
    for (const line of linesOf(text)) this.#known.add(line);
  }

  /** Somebody who saw `before` leaves `after`. */
  saved(before: string, after: string): void {
    this.proposed(after);
    const counts = countLines(after);
    for (const line of counts.keys()) this.#written.add(line);
    for (const [line, count] of countLines(before)) {
      if ((counts.get(line) ?? 0) < count) this.#taken.add(line);
    }
  }

  /** This line may be gone: the service that had it alone was put back to an older copy. */
  excuse(line: string): void {
    this.#excused.add(line);
  }

  /** Shown or stored anywhere, at any time. */
  checkShown(where: string, text: string): void {
    const foreign = linesOf(text).find((line) => !this.#known.has(line));
    if (foreign !== undefined) this.#report(`${where} has a line that nobody wrote: "${foreign}"`);
  }

  checkAtRest(text: string): void {
    const lines = new Set(linesOf(text));
    for (const line of this.#written) {
      if (lines.has(line) || this.#taken.has(line) || this.#excused.has(line)) continue;
      this.#report(`the line "${line}" is lost`);
    }
  }
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of linesOf(text)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** What a text has between its line breaks, of either kind; no blank lines. */
export function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}
