import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { splitForm } from "../../shared/replica/text/text-form.ts";
import { type FileHistory, fileHistories } from "../support/real-data.ts";
import { anyForks, anyTerminatedText } from "../support/text-arbitraries.ts";
import { mergeInSteps, mergeOnTwoMachines } from "../trust/merge-replicas.ts";

/** How many saves of a real file one machine makes where the other makes one. */
const STEPS = 3;

/** Lines as a text that ends with a line break. */
function text(...lines: string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** What two machines come to that make the same change, one of them in several saves. */
function merged(base: string, steps: readonly string[]): string[] {
  const atOnce = steps.slice(-1);
  return [mergeInSteps(base, [steps, atOnce]).text, mergeInSteps(base, [atOnce, steps]).text];
}

describe("the same change in other steps", () => {
  const end = text("# Title", "", "new", "", "## Section", "", "body", "", "## End");

  test("the same change in other steps stands once where one machine put it before a blank line and one behind", () => {
    const base = text("# Title", "", "old", "", "## End");
    const between = text("# Title", "", "new", "", "## End");
    expect(merged(base, [between, end])).toEqual([end, end]);
  });

  test("the same change in other steps stands once where a line with words is the one that it stands before or behind", () => {
    const base = text("# Title", "old", "- e", "last");
    const between = text("# Title", "new", "- e", "last");
    const after = text("# Title", "new", "- e", "x", "y", "- e", "last");
    expect(merged(base, [between, after])).toEqual([after, after]);
  });

  test("the same change in other steps stands once where it begins inside a code block that was begun before", () => {
    const base = text("# Title", "npm i", "```", "end");
    const between = text("# Title", "", "```sh", "```", "end");
    const after = text("# Title", "", "```sh", "pnpm i", "pnpm build", "```", "end");
    expect(merged(base, [between, after])).toEqual([after, after]);
  });

  test("beside another change of the other machine leaves what only that one wrote", () => {
    const base = text("# Title", "", "old", "", "## End");
    const between = text("# Title", "", "new", "", "## End");
    const other = text("# Title", "", "new", "", "## Section", "", "body", "more", "", "## End");
    expect(mergeInSteps(base, [[between, end], [other]]).text).toBe(other);
    expect(mergeInSteps(base, [[other], [between, end]]).text).toBe(other);
  });

  test("the same change in other steps doubles no line of a thousand in files as people write them", () => {
    let [lines, doubled] = [0, 0];
    for (const { base, steps } of fileHistories().flatMap(stepsOf)) {
      const wanted = countLines(steps.at(-1) ?? "");
      for (const one of merged(base, steps)) {
        const found = countLines(one);
        lines += one.split("\n").length;
        for (const [line, count] of found) doubled += Math.max(0, count - (wanted.get(line) ?? 0));
        const lost = [...wanted.keys()].filter((line) => line !== "" && !found.has(line));
        expect(lost).toEqual([]);
      }
    }
    expect(doubled / lines).toBeLessThanOrEqual(0.001);
  }, 60_000);

  function stepsOf({ versions }: FileHistory) {
    const kept = versions.map((version) => splitForm(version).lines);
    const starts = kept.slice(0, -STEPS);
    return starts.map((base, i) => ({ base, steps: kept.slice(i + 1, i + 1 + STEPS) }));
  }

  function countLines(one: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const line of one.split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1);
    return counts;
  }
});

describe("a second clean-up changes nothing", () => {
  test("a second clean-up changes nothing where both sides inserted the same at once, and one of them once more", () => {
    for (const [base, ours, theirs] of [
      ["a\n---\n---", "\n---", "\n---\n\n---\na\n---\na"],
      ["a\n---\n---", "x\n---", "x\n---\nx\n---\na\n---\na"],
    ] as const) {
      const { text, textCleanedAgain } = mergeOnTwoMachines({ name: "", base, ours, theirs });
      expect(textCleanedAgain).toBe(text);
    }
  });

  test("a second clean-up changes nothing where each part is settled, and all of them together are not", () => {
    const saves = [
      ["a\n- e\n", "a\na\n- e\na\n"],
      ["a\n- e\n", "# f\n- e\n- e\n```ts\n"],
    ];
    const { text, textCleanedAgain } = mergeInSteps("a\n", saves, [0, 1]);
    expect(textCleanedAgain).toBe(text);
    expect(mergeInSteps("a\n", saves, [1, 0]).text).toBe(text);
  });

  test("a second clean-up changes nothing, however many saves it took, and whoever cleans up", () => {
    fc.assert(
      fc.property(anyForks(anyTerminatedText(), 4), ({ base, edits }) => {
        const saves = [edits.slice(0, 2), edits.slice(2)] as const;
        const { text, textCleanedAgain } = mergeInSteps(base, saves, [0, 1]);
        expect(textCleanedAgain).toBe(text);
        expect(mergeInSteps(base, saves, [1, 0]).text).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe("lines that differ in their indentation alone", () => {
  const base = text("- list", "end");

  test("lines that differ in their indentation alone are different lines, of a list or of code", () => {
    for (const [ours, theirs] of [
      [
        ["- a", "- b"],
        ["  - a", "  - b"],
      ],
      [
        ["```yaml", "on:", "push: 1", "```"],
        ["```yaml", "on:", "  push: 1", "```"],
      ],
      [["\tmake"], ["    make"]],
      [["make"], ["make  "]],
    ] as const) {
      const fork = {
        name: "",
        base,
        ours: text("- list", ...ours, "end"),
        theirs: text("- list", ...theirs, "end"),
      };
      expect(mergeOnTwoMachines(fork).text).toBe(text("- list", ...ours, ...theirs, "end"));
    }
  });

  test("lines that differ in their indentation alone stay both beside lines that are equal", () => {
    const ours = text("- list", "- a", "- b", "- c", "end");
    const theirs = text("- list", "- a", "  - b", "- c", "end");
    const { text: one } = mergeOnTwoMachines({ name: "", base, ours, theirs });
    expect(one).toBe(text("- list", "- a", "- b", "  - b", "- c", "end"));
  });
});
