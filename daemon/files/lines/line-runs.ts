import { diffLines } from "../../../shared/replica/text/line-diff.ts";

/** Neighbouring items with the same key. */
export interface Run<Key> {
  readonly key: Key;
  readonly indices: readonly number[];
}

/** The longest runs of neighbouring indices with the same key; `indices` are in order. */
export function runsOf<Key>(
  indices: readonly number[],
  keyOf: (index: number) => Key | undefined,
): Run<Key>[] {
  const runs: { key: Key; indices: number[] }[] = [];
  let last: Key | undefined;
  for (const index of indices) {
    const key = keyOf(index);
    if (key !== undefined && key === last) runs.at(-1)?.indices.push(index);
    else if (key !== undefined) runs.push({ key, indices: [index] });
    last = key;
  }
  return runs;
}

/** Finds runs of items by their texts; a run lies within one group. */
export class RunFinder<Item> {
  readonly #textOf: (item: Item) => string;
  /** Where each text occurs, in the order of the groups and of their items. */
  readonly #places = new Map<string, { readonly items: readonly Item[]; readonly at: number }[]>();

  constructor(groups: readonly (readonly Item[])[], textOf: (item: Item) => string) {
    this.#textOf = textOf;
    for (const items of groups) {
      for (const [at, item] of items.entries()) {
        const text = textOf(item);
        const places = this.#places.get(text);
        if (places) places.push({ items, at });
        else this.#places.set(text, [{ items, at }]);
      }
    }
  }

  /**
   * The first run of items that have these texts and are all free; undefined where there is none.
   * An item that is not free now must never become free again.
   */
  find(
    texts: readonly string[],
    isFree: (item: Item) => boolean = () => true,
  ): readonly Item[] | undefined {
    const places = this.#places.get(texts[0] ?? "") ?? [];
    while (places[0] && !isFree(places[0].items[places[0].at] as Item)) places.shift();
    return this.findWhere(texts, (run) => run.every(isFree));
  }

  /** The first run of items that have these texts and that `areMeant` accepts. */
  findWhere(
    texts: readonly string[],
    areMeant: (items: readonly Item[]) => boolean,
  ): readonly Item[] | undefined {
    for (const { items, at } of this.#places.get(texts[0] ?? "") ?? []) {
      const run = items.slice(at, at + texts.length);
      const isHere = (item: Item, i: number) => this.#textOf(item) === texts[i];
      if (run.length === texts.length && run.every(isHere) && areMeant(run)) return run;
    }
    return undefined;
  }
}

export function isBlank(line: string): boolean {
  return line.trim() === "";
}

/** Whether a line begins or ends a block of code. */
export function isCodeEdge(line: string): boolean {
  return /^\s*(```|~~~)/.test(line);
}

/** The indices of lines that are in a block of code, or begin or end one. */
export function codeLinesIn(lines: readonly string[]): ReadonlySet<number> {
  const code = new Set<number>();
  let isOpen = false;
  for (const [at, line] of lines.entries()) {
    const isEdge = isCodeEdge(line);
    if (isOpen || isEdge) code.add(at);
    if (isEdge) isOpen = !isOpen;
  }
  return code;
}

/** `count` indices in a row. */
export function indicesFrom(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => from + at);
}

/**
 * Where the lines that stay from one text to another are in each, by the hunks of `diffLines`.
 * Whoever compares several texts gets the same of several equal lines then.
 */
export function linesThatStay(
  before: readonly string[],
  after: readonly string[],
): ReadonlyMap<number, number> {
  const stay = new Map<number, number>();
  let [next, there] = [0, 0];
  const end = { at: before.length, removed: 0, from: after.length, added: 0 };
  for (const { at, removed, from, added } of [...diffLines(before, after), end]) {
    for (; next < at; next++, there++) stay.set(next, there);
    [next, there] = [at + removed, from + added];
  }
  return stay;
}
