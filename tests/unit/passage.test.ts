import { expect, test } from "bun:test";
import fc from "fast-check";
import { valueLine } from "../../cli/views/memory-view.ts";
import { beginningOf, passageOf } from "../../shared/replica/search/passage.ts";

const TEXT = "# Build\n\nRun npm first.\nThe Café machine runs the build, never make.\nEnd.";

test("the line with the most words is shown, whatever their case, accents and ends", () => {
  expect(passageOf(TEXT, "run")).toBe("… Run npm first. …");
  expect(passageOf(TEXT, "cafe run")).toBe("… The Café machine runs the build, never make. …");
  expect(passageOf(TEXT, "CAFÉ".normalize("NFD"))).toContain("Café");
  expect(passageOf(TEXT, "end")).toBe("… End.");
  expect(passageOf(TEXT, "build npm-first")).toBe("… Run npm first. …");
});

test("without any of the words it is the first line that is not blank", () => {
  expect(passageOf("\n\n  one  \ntwo", "zebra")).toBe("one …");
  expect(passageOf("", "zebra")).toBe("");
});

test("without any of them a text with front matter is its description, its name or its body", () => {
  const text = '---\nname: run-tests\ndescription: "how the tests run"\n---\n\nRun bun.\n';
  expect(passageOf(text, "")).toBe("how the tests run …");
  expect(passageOf(text.replace(/desc.*\n/, ""), "")).toBe("run-tests …");
  expect(passageOf(text.replace(/name.*\ndesc.*\n/, "type: note\n"), "")).toBe("Run bun. …");
  expect(passageOf(text, "bun")).toBe("… Run bun.");
  expect(passageOf("---\nno end\n", "")).toBe("--- …");
});

test("a table shows a memory by its description", () => {
  expect(valueLine("---\ndescription: how\n---\nRun bun.\n")).toBe("how …");
  expect(valueLine("\nRun bun.\nAnd wait.\n")).toBe("Run bun. …");
  expect(valueLine("bun")).toBe("bun");
  const personal = "<!-- memsync:personal version abcdefghij -->\n- Use tabs.\n- Say why.\n";
  expect(valueLine(personal)).toBe("- Use tabs. …");
});

test("of a long line, the part around the first of the words is shown", () => {
  const line = `${"before ".repeat(50)}walrus ${"after ".repeat(50)}`;
  const shown = passageOf(line, "walr", 80);
  expect(shown).toMatch(/^… before .*walrus after .* …$/);
  expect(shown.length).toBeLessThanOrEqual(84);
});

test("however little is shown, the word itself is in it", () => {
  const line = `${"before ".repeat(50)}walrus ${"after ".repeat(50)}`;
  for (const length of [10, 16, 24, 40])
    expect(passageOf(line, "walrus", length)).toContain("walr");
  const chinese = `${"前面的文字".repeat(30)}，数据库连接${"后面的文字".repeat(30)}`;
  for (const length of [10, 16, 24]) {
    expect(passageOf(chinese, "连接", length)).toContain("连接");
    expect(passageOf(`ﬁ${chinese}½`, "连接", length)).toContain("连接");
  }
  expect(passageOf(`${"½".repeat(90)} walrus`, "walrus", 20)).toContain("walrus");
});

test("no passage is longer than asked, and none has half a character", () => {
  const text = fc.string({ unit: "binary", maxLength: 80 });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 10, max: 60 }), (value, query, max) => {
      const shown = passageOf(value, query, max);
      expect(shown.length).toBeLessThanOrEqual(max + 4);
      expect(shown.isWellFormed()).toBe(true);
    }),
  );
});

test.each([
  ["# Notes\n\n- Tag first, then publish: CI reads the tag.\n- Wait.\n", 2],
  ["Notes\n=====\n\nTag first, then publish: CI reads the tag.\n", 2],
  ["Ann (person)\n- likes tea\n- leads the build of the widget's parts\n", 3],
  ["# Notes\r\n\r\n## Release\r\n\r\nTag first, then publish: CI reads the tag.\r\n", 3],
  ["Tag first, then publish: CI reads the tag.\nWait for CI.\n", 1],
  ["one line", 1],
])("the beginning of %j is shown as far as it says something", (text, count) => {
  const worded = text.split(/\r?\n/).filter((line) => /[\p{L}\p{N}]/u.test(line));
  const expected = worded.slice(0, count);
  const more = worded.length > expected.length ? " …" : "";
  expect(beginningOf(text)).toBe(expected.join("\n") + more);
});

test("a beginning is no longer than asked, and a text without words is shown as it is", () => {
  expect(beginningOf(`# Notes\n${"word ".repeat(50)}`, 20)).toBe("# Notes\nword word wo …");
  expect(
    beginningOf("---\ndescription: how the tests of the widget run, and where\n---\nBun."),
  ).toBe("how the tests of the widget run, and where …");
  expect(beginningOf("--- !\n?\n")).toBe("--- ! …");
  expect(beginningOf("")).toBe("");
});
