import fc from "fast-check";

const LINES = ["a", "b", "c d", "- e", "# f", "", "", "```", "```ts", "---", "}"];

/** Few different lines, so that many are equal; most texts end with a line break, some do not. */
export function anyText(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.constantFrom(...LINES), { maxLength: 14 }), fc.nat(5))
    .map(([lines, ending]) => toText(lines, ending > 0));
}

/** Every line, the last one too, ends with a line break. */
export function anyTerminatedText(): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...LINES), { maxLength: 14 }).map((lines) => toText(lines, true));
}

/** A text with up to three edits of it, each of a few places. */
export function anyForks(text: fc.Arbitrary<string>, edits: number) {
  const splice = fc.record({
    at: fc.nat(14),
    removed: fc.nat(3),
    inserted: fc.array(fc.constantFrom(...LINES), { maxLength: 4 }),
  });
  const change = fc.array(splice, { maxLength: 3 });
  return fc
    .tuple(text, fc.array(change, { minLength: edits, maxLength: edits }))
    .map(([base, changes]) => ({ base, edits: changes.map((splices) => edit(base, splices)) }));
}

interface Splice {
  readonly at: number;
  readonly removed: number;
  readonly inserted: readonly string[];
}

function edit(base: string, splices: readonly Splice[]): string {
  const terminated = base === "" || base.endsWith("\n");
  const lines = base === "" ? [] : (terminated ? base.slice(0, -1) : base).split("\n");
  for (const { at, removed, inserted } of splices) lines.splice(at, removed, ...inserted);
  return toText(lines, terminated);
}

function toText(lines: readonly string[], terminated: boolean): string {
  if (lines.length === 0) return "";
  return lines.join("\n") + (terminated ? "\n" : "");
}
