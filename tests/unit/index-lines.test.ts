import { expect, test } from "bun:test";
import { mergeIndexes, uniteIndexes } from "../../daemon/assistants/memory-folders/index-lines.ts";

const BASE = "# Memory\n\n- [Alpha](alpha.md)\n\n## One\n\n## Two\n";
const FENCED = "```\nmake\n```\n- status: done\n";
const ONE = BASE.replace("## One\n", `## One\n${FENCED}`);
const TWO = BASE.replace("## Two\n", `## Two\n${FENCED.replace("make", "test")}`);

const countOf = (text: string, line: string) => text.split("\n").filter((each) => each === line);

test.each([
  ["merged", mergeIndexes({ base: BASE, mine: ONE, theirs: TWO })],
  ["united", uniteIndexes([ONE, TWO])],
])("lines that both sides wrote, each for itself, are all in what is %s", (_, text) => {
  expect(countOf(text, "```")).toHaveLength(4);
  expect(countOf(text, "- status: done")).toHaveLength(2);
  expect(text).toContain("make\n");
  expect(text).toContain("test\n");
});

test("of two versions that lead to one file in other words all words stay", () => {
  const warned = `${BASE}- NEVER deploy on Fridays, see [Alpha](alpha.md)\n`;
  const other = BASE.replace("- [Alpha](alpha.md)", "- [Alpha](alpha.md) — how to deploy");
  const united = uniteIndexes([other, warned]);
  expect(united).toContain("- NEVER deploy on Fridays, see [Alpha](alpha.md)\n");
  expect(united).toContain("- [Alpha](alpha.md) — how to deploy\n");
});

test("a line for a file that both sides added or moved is there once", () => {
  const line = "- [Beta](beta.md) — the second";
  const [mine, theirs] = [`${BASE}${line}\n`, BASE.replace("## One", `${line}\n\n## One`)];
  expect(countOf(mergeIndexes({ base: BASE, mine, theirs }), line)).toHaveLength(1);
  expect(countOf(uniteIndexes([mine, theirs]), line)).toHaveLength(1);
});
