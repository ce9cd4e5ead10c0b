import { join } from "node:path";

/** A place in a drawing. */
interface Place {
  readonly row: number;
  readonly column: number;
}

/** What a line of a drawing goes on with: up, down, left or right. */
const STEPS: Readonly<Record<string, Place>> = {
  U: { row: -1, column: 0 },
  D: { row: 1, column: 0 },
  L: { row: 0, column: -1 },
  R: { row: 0, column: 1 },
};
const BACK: Readonly<Record<string, string>> = { U: "D", D: "U", L: "R", R: "L" };

/** Where each sign of a line goes on. */
const LINES: Readonly<Record<string, string>> = {
  "─": "LR",
  "│": "UD",
  "┌": "RD",
  "┐": "LD",
  "└": "RU",
  "┘": "LU",
  "├": "UDR",
  "┤": "UDL",
  "┬": "LRD",
  "┴": "LRU",
};
/** Where the state is to which each head of an arrow leads. */
const HEADS: Readonly<Record<string, string>> = { "▶": "R", "◀": "L", "▲": "U", "▼": "D" };

/**
 * The arrows between `states` in the drawing at the head of a file, each as "FROM → TO". `path` is
 * from the top of the repository.
 *
 * ```
 * await readArrows("daemon/supervise/daemon-life.ts", LIFE_PHASES); // "starting → running", …
 * ```
 */
export async function readArrows(path: string, states: readonly string[]): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, "../..", path)).text();
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return arrowsIn(lines.slice(0, end), states);
}

/** The arrows of a drawing, sorted. */
export function arrowsIn(lines: readonly string[], states: readonly string[]): string[] {
  const drawing = new Drawing(lines, states);
  const found = lines.flatMap((line, row) =>
    [...line].flatMap((sign, column) => (sign in HEADS ? drawing.arrowsTo({ row, column }) : [])),
  );
  return [...new Set(found)].sort();
}

class Drawing {
  readonly #lines: readonly (readonly string[])[];
  readonly #states: readonly string[];

  constructor(lines: readonly string[], states: readonly string[]) {
    this.#lines = lines.map((line) => [...line]);
    this.#states = states;
  }

  /** The arrows that end in one head. */
  arrowsTo(head: Place): string[] {
    const aim = HEADS[this.#at(head)] ?? "";
    const to = this.#stateBeside(head, aim);
    if (to === undefined) throw new Error(`an arrow in line ${head.row + 1} leads to no state`);
    const { tails, heads } = this.#ends(head, aim);
    // A line with a head at either end goes both ways.
    const from = tails.length > 0 ? tails : heads;
    if (from.length === 0) throw new Error(`an arrow to ${to} comes from no state`);
    return from.map((each) => `${each} → ${to}`);
  }

  /** The states where a head's line begins, and those to which other heads of it lead. */
  #ends(head: Place, aim: string): { readonly tails: string[]; readonly heads: string[] } {
    const tails: string[] = [];
    const heads: string[] = [];
    const open: (readonly [Place, string])[] = [[head, BACK[aim] ?? ""]];
    const seen = new Set<string>();
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [from, way] = next;
      const place = beside(from, way);
      const sign = this.#at(place);
      const key = `${place.row} ${place.column}`;
      const isLine = (LINES[sign] ?? "").includes(BACK[way] ?? "?");
      if (isLine && seen.has(key)) continue;
      seen.add(key);
      const state = isLine ? undefined : this.#stateBeside(from, way);
      if (HEADS[sign] === way) heads.push(this.#stateBeside(place, way) ?? "");
      else if (state !== undefined) tails.push(state);
      if (!isLine) continue;
      for (const on of LINES[sign] ?? "") if (on !== BACK[way]) open.push([place, on]);
    }
    return { tails, heads };
  }

  /** The state next to a sign; a space may be between them in a row. */
  #stateBeside(place: Place, way: string): string | undefined {
    const near = beside(place, way);
    const at = way === "L" || way === "R" ? [near, beside(near, way)] : [near];
    return this.#states.find((state) => at.some((each) => this.#has(each, state)));
  }

  /** Whether the word at a place is this state. */
  #has({ row, column }: Place, state: string): boolean {
    const line = (this.#lines[row] ?? []).join("");
    return [...line.matchAll(/[a-z-]+/g)].some(({ 0: word, index }) => {
      return word === state && index <= column && column < index + word.length;
    });
  }

  #at({ row, column }: Place): string {
    return this.#lines[row]?.[column] ?? " ";
  }
}

function beside({ row, column }: Place, way: string): Place {
  const step = STEPS[way] ?? { row: 0, column: 0 };
  return { row: row + step.row, column: column + step.column };
}
