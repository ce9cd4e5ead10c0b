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
  "┼": "LRUD",
};
/** Where the state is to which each head of an arrow leads. */
const HEADS: Readonly<Record<string, string>> = { "▶": "R", "◀": "L", "▲": "U", "▼": "D" };

/** An arrow of a drawing: what leads from one state to another. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  /** What is written into its line, from its tail to its head. */
  readonly label: string;
}

/**
 * The arrows between `states` in the drawing at the head of a file. A label stands in its line,
 * with no space before or after it: `here ──go on──▶ there`. `path` is from the top of the
 * repository.
 *
 * ```
 * await readArrows("daemon/supervise/daemon-life.ts", LIFE_PHASES);
 * // [{ from: "starting", to: "running", label: "started" }, …]
 * ```
 */
export async function readArrows(path: string, states: readonly string[]): Promise<Arrow[]> {
  const text = await Bun.file(join(import.meta.dir, "../..", path)).text();
  return arrowsIn(headOf(text), states);
}

/** The comment at the head of a file. */
export function headOf(text: string): string[] {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines.slice(0, end === -1 ? undefined : end);
}

/** The arrows of a drawing, in the order of their heads. */
export function arrowsIn(lines: readonly string[], states: readonly string[]): Arrow[] {
  const drawing = new Drawing(lines, states);
  return lines.flatMap((line, row) =>
    [...line].flatMap((sign, column) => (sign in HEADS ? drawing.arrowsTo({ row, column }) : [])),
  );
}

/** How far a line was followed from its head, and what was written into it. */
interface Followed {
  readonly place: Place;
  readonly way: string;
  readonly label: string;
}

class Drawing {
  readonly #lines: readonly (readonly string[])[];
  readonly #states: readonly string[];

  constructor(lines: readonly string[], states: readonly string[]) {
    this.#lines = lines.map((line) => [...line]);
    this.#states = states;
  }

  /** The arrows that end in one head. */
  arrowsTo(head: Place): Arrow[] {
    const aim = HEADS[this.#at(head)] ?? "";
    const to = this.#stateBeside(head, aim);
    if (to === undefined) throw new Error(`an arrow in line ${head.row + 1} leads to no state`);
    const tails = this.#tails({ place: head, way: BACK[aim] ?? "", label: "" });
    if (tails.length === 0) throw new Error(`an arrow to ${to} comes from no state`);
    return tails.map((tail) => ({ ...tail, to }));
  }

  /** The states where a head's line begins. */
  #tails(head: Followed): Omit<Arrow, "to">[] {
    const tails: Omit<Arrow, "to">[] = [];
    const open = [head];
    const seen = new Set<string>();
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { place, way, label } = this.#overLabel(next);
      const here = beside(place, way);
      const sign = this.#at(here);
      const back = BACK[way] ?? "?";
      if (!(LINES[sign] ?? "").includes(back)) {
        const from = sign in HEADS ? undefined : this.#stateBeside(place, way);
        if (from !== undefined) tails.push({ from, label });
        continue;
      }
      const key = `${here.row} ${here.column}`;
      if (seen.has(key)) continue;
      seen.add(key);
      for (const on of LINES[sign] ?? "")
        if (on !== back) open.push({ place: here, way: on, label });
    }
    return tails;
  }

  /** Over the words in a line, up to its next sign; a state has a space before it. */
  #overLabel(followed: Followed): Followed {
    const { place, way, label } = followed;
    if (way !== "L" && way !== "R") return followed;
    let last = place;
    let words = "";
    for (;;) {
      const next = beside(last, way);
      const sign = this.#at(next);
      const isEnd = sign in LINES || sign in HEADS || (words === "" && sign === " ");
      if (isEnd || next.column < 0 || next.column > (this.#lines[next.row]?.length ?? 0)) break;
      words = way === "L" ? sign + words : words + sign;
      last = next;
    }
    if (words === "") return followed;
    return { place: last, way, label: label === "" ? words : `${words}, ${label}` };
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
