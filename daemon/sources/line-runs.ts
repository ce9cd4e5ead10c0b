/** Items that follow on each other and have one key. */
export interface Run<Key> {
  readonly key: Key;
  readonly indices: readonly number[];
}

/** The longest runs of neighbouring indices, as they are listed, that have one key. */
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

/** The first items that follow on each other and read as these texts; undefined: there are none. */
export function findRun<Item>(
  items: readonly Item[],
  texts: readonly string[],
  textOf: (item: Item) => string | undefined,
): readonly Item[] | undefined {
  for (let from = 0; from + texts.length <= items.length; from++) {
    const run = items.slice(from, from + texts.length);
    if (run.every((item, at) => textOf(item) === texts[at])) return run;
  }
  return undefined;
}

export function isBlank(line: string): boolean {
  return line.trim() === "";
}

/** Whether a line begins or ends a block of code. */
export function isFence(line: string): boolean {
  return /^\s*(```|~~~)/.test(line);
}
