/** What is known of one line of a project's text. */
interface LineFacts {
  /** Somebody's save brought it. */
  written: boolean;
  /** Somebody's save took it away, and that counts. */
  taken: boolean;
  /** A save brought it once more after that. */
  broughtBack: boolean;
  /** A save took it away too soon after others had brought it, so it has to stay, and be told. */
  defended: boolean;
  /** It was moved, or taken away when nobody can say whether that counts. */
  unsure: boolean;
  excused: boolean;
}

/** How much a deletion of a line counts. */
export type Weight = "counts" | "defended" | "unsure";

/**
 * Knows every line that somebody saved and every line that somebody took away. A line is one
 * without its line break; blank ones don't count.
 */
export class TextLedger {
  readonly #lines = new Map<string, LineFacts>();
  readonly #report: (problem: string) => void;

  constructor(report: (problem: string) => void) {
    this.#report = report;
  }

  /** Somebody asks for a text, which may come to nothing. */
  proposed(text: string): void {
    for (const line of linesOf(text)) this.#facts(line);
  }

  /** Somebody leaves `after` where `before` was; `weigh` says how much each deletion counts. */
  saved(before: string, after: string, weigh: (line: string) => Weight = () => "counts"): void {
    const [had, has] = [countLines(before), countLines(after)];
    for (const [line, count] of has) {
      const facts = this.#facts(line);
      facts.written = true;
      if (count <= (had.get(line) ?? 0)) continue;
      if (facts.taken || facts.defended) facts.broughtBack = true;
      if (count > 1) facts.unsure = true;
    }
    for (const [line, count] of had) {
      if ((has.get(line) ?? 0) < count) this.#takeAway(this.#facts(line), weigh(line));
    }
  }

  #takeAway(facts: LineFacts, weight: Weight): void {
    if (weight === "defended") facts.defended = true;
    else facts.taken = true;
    if (weight === "unsure") facts.unsure = true;
  }

  /** Somebody cut these and pasted them elsewhere, or git exchanged them: more is not known. */
  moved(lines: readonly string[]): void {
    for (const line of lines) this.#facts(line).unsure = true;
  }

  /** git, or whoever undoes a whole state, put `after` in the place of `before`. */
  exchanged(before: string, after: string): void {
    this.proposed(after);
    const [had, has] = [countLines(before), countLines(after)];
    for (const line of new Set([...had.keys(), ...has.keys()])) {
      if (had.get(line) === has.get(line)) continue;
      Object.assign(this.#facts(line), { taken: true, unsure: true });
    }
  }

  /** This line may be gone: who had it alone was put back to an older copy. */
  excuse(line: string): void {
    this.#facts(line).excused = true;
  }

  /** A line that somebody took away for good, for whoever wants to write it once more. */
  get gone(): string[] {
    return [...this.#lines].flatMap(([line, facts]) => (facts.taken ? [line] : []));
  }

  /** A line that somebody took away, whether for good or too soon. */
  get deleted(): string[] {
    return [...this.#lines].flatMap(([line, { taken, defended }]) =>
      taken || defended ? [line] : [],
    );
  }

  /** Shown or stored anywhere, at any time. */
  checkShown(where: string, text: string): void {
    const foreign = linesOf(text).find((line) => !this.#lines.has(line));
    if (foreign !== undefined) this.#report(`${where} has a line that nobody wrote: "${foreign}"`);
  }

  /** `told`: all that the document's conflicts show. */
  checkAtRest(text: string, told: string): void {
    const lines = countLines(text);
    const conflicts = new Set(linesOf(told));
    for (const [line, facts] of this.#lines) {
      const { written, taken, broughtBack, defended, unsure, excused } = facts;
      const isShown = lines.has(line);
      if (written && !isShown && !taken && !excused) this.#report(`the line "${line}" is lost`);
      if (!isShown || unsure || broughtBack || !isUnique(line) || conflicts.has(line)) continue;
      if (taken) this.#report(`the line "${line}" is there, though it was deleted`);
      else if (defended) this.#report(`nobody is told that the line "${line}" was not deleted`);
    }
  }

  /** How many lines stand there more often than anybody wrote them. */
  doubled(text: string): number {
    const counts = [...countLines(text)];
    return counts.filter(([line, count]) => {
      return count > 1 && isUnique(line) && !this.#facts(line).unsure;
    }).length;
  }

  #facts(line: string): LineFacts {
    const facts = this.#lines.get(line) ?? {
      written: false,
      taken: false,
      broughtBack: false,
      defended: false,
      unsure: false,
      excused: false,
    };
    this.#lines.set(line, facts);
    return facts;
  }
}

/** Whether it is one of the lines that are made once and never again; see `Phrases.own`. */
function isUnique(line: string): boolean {
  return /\(\S.* \d+\)$/.test(line);
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of linesOf(text)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** What a text has between its line breaks, of either kind; no blank lines, no byte order marks. */
export function linesOf(text: string): string[] {
  return text
    .replaceAll("\uFEFF", "")
    .split(/\r*(?:\n|$)/)
    .filter((line) => line.trim() !== "");
}
