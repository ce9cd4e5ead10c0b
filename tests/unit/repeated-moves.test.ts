import { expect, test } from "bun:test";
import { cleanedByBoth, mergeOnTwoMachines } from "../trust/merge-replicas.ts";

for (const [what, base, ours, theirs] of [
  ["a fence without its other one", "\n", "\n```\na\n", "a\n```ts\n"],
  [
    "a blank line",
    "b\n\n- e\n\nb\nb\n---\n",
    "b\n\n- e\nb\n- e\n---\nb\n---\n\na\n---\n",
    "b\n\n- e\n\nb\na\n- e\n",
  ],
  [
    "lines with such a fence",
    "---\n\n\n",
    "---\n\n\nb\n- e\n```\n# f\n",
    "---\n\n}\n}\n# f\n```ts\n",
  ],
  [
    "a fence that other lines could be taken for",
    "c d\n```ts\n\n---\n- e\n}\n\n```ts\n---\nb\n",
    "c d\n```ts\n\n---\n- e\n}\n\n```ts\n# f\n",
    "c d\n```ts\n\n---\n\na\nc d\nb\n```ts\n```\n}\na\n# f\n",
  ],
] as const) {
  test(`what both machines moved at once stands once: ${what}`, () => {
    const fork = { name: "", base, ours, theirs };
    expect(cleanedByBoth(fork)).toBe(mergeOnTwoMachines(fork).text);
  });
}
