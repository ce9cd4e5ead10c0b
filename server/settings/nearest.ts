/** More than this part of a name that differs is another name, not a slip. */
const DIFFERENCE_MAX = 0.4;

/** The one of `names` that was probably meant by `name`; undefined when none is near. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((each) => ({ each, edits: editsBetween(name.toLowerCase(), each.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  return best && best.edits <= name.length * DIFFERENCE_MAX ? best.each : undefined;
}

/** Levenshtein distance: characters inserted, deleted or replaced to make `b` of `a`. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
