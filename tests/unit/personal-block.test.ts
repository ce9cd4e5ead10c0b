import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  asBlock,
  blockText,
  findBlock,
  withBlock,
  withoutBlock,
  withoutMarks,
  withText,
} from "../../daemon/assistants/personal/block.ts";
import { mergeVersions, newestOf } from "../../daemon/assistants/personal/merge-versions.ts";
import {
  type PersonalVersion,
  parseVersion,
  versionOf,
} from "../../daemon/assistants/personal/version.ts";
import { beginsAsPersonal } from "../../daemon/home/personal-mark.ts";

/** Files with every odd ending, mark and character that may come before a block. */
const content = fc
  .array(
    fc.oneof(
      fc.constantFrom("\n", "\r\n", "\r", "", "\uFEFF", "# Mine", "---\n", " ", "<!-- a -->\n"),
      fc.string(),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));
const text = fc
  .array(fc.oneof(fc.constantFrom("", "- Use tabs.", "é\u0301", "a\rb"), fc.string()), {
    maxLength: 6,
  })
  .map((lines) => blockText(lines.join("\n")));

function blockIn(file: string) {
  const found = findBlock(file);
  if (found.kind !== "block") throw new Error(`no block: ${found.kind}`);
  return found;
}

test("a block that is put in and taken out leaves every file byte for byte as it was", () => {
  fc.assert(
    fc.property(content, text, (file, own) => {
      const block = blockIn(withBlock(file, own));
      expect(block.text).toBe(own);
      expect(withoutBlock(block)).toBe(file);
    }),
    { numRuns: 2000 },
  );
});

test("a text that comes into a block changes nothing around it, and reads back as it is", () => {
  fc.assert(
    fc.property(content, content, fc.tuple(text, text), (before, after, [first, next]) => {
      const file = withBlock(before, first) + after;
      const changed = blockIn(withText(blockIn(file), next));
      const { text: found, ...around } = changed;
      expect(found).toBe(next);
      const { text: _, ...former } = blockIn(file);
      expect(around).toEqual(former);
    }),
    { numRuns: 2000 },
  );
});

test("what stands in the block of a file without marks is all of the file", () => {
  fc.assert(
    fc.property(content, (file) => {
      const block = blockIn(asBlock(file));
      const bom = file.startsWith("\uFEFF") ? "\uFEFF" : "";
      expect(block.text).toBe(blockText(file.slice(bom.length)));
      expect(blockText(withoutMarks(block))).toBe(blockText(file));
    }),
    { numRuns: 2000 },
  );
});

test("a block keeps what was written after it where that belongs", () => {
  const file = `${withBlock("before\n", "own\n")}after\n`;
  expect(withoutBlock(blockIn(file))).toBe("before\nafter\n");
  const moved = withBlock("", "own\n");
  expect(withoutBlock(blockIn(`${moved}after\n`))).toBe("after\n");
  expect(withoutBlock(blockIn(`one\n${moved}two\n`))).toBe("one\ntwo\n");
});

test("a block that is being written is none yet", () => {
  const whole = withBlock("before\n", "one\ntwo\n");
  for (let length = 0; length < whole.length - 1; length++) {
    expect(findBlock(whole.slice(0, length)).kind).not.toBe("block");
  }
});

const NOTHING_OWN = { isOwn: () => false };
const ALL_OWN = { isOwn: () => true };
const among = (...all: PersonalVersion[]) => ({
  find: (id: string) => all.find((each) => each.id === id),
});

test("a value names what it was made of, and any other value is a text as it is", () => {
  fc.assert(
    fc.property(text, (own) => {
      const first = versionOf(own, []);
      const second = versionOf(own, [first.id]);
      expect(parseVersion(second.value)).toEqual(second);
      expect(beginsAsPersonal(second.value)).toBe(true);
      expect(second.id).not.toBe(first.id);
      expect(newestOf([first, second], among())).toEqual([second]);
    }),
  );
  expect(parseVersion("set\r\nby hand")).toMatchObject({ text: "set\nby hand\n", parents: [] });
});

test("two versions come to the same on every machine, and without loss", () => {
  const lines = fc
    .uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"), { maxLength: 8 })
    .map((each) => each.map((line) => `${line}\n`).join(""));
  fc.assert(
    fc.property(lines, lines, lines, (base, mine, theirs) => {
      const from = versionOf(base, []);
      const one = versionOf(mine, [from.id]);
      const other = versionOf(theirs, [from.id]);
      if (one.id === other.id) return;
      const known = { ...among(from, one, other), ...NOTHING_OWN };
      const merged = mergeVersions(one, other, known);
      expect(mergeVersions(other, one, known)).toEqual(merged);
      const came = merged?.text.split("\n") ?? [];
      for (const line of [...mine.split("\n"), ...theirs.split("\n")]) {
        // Only what one side took away may be missing.
        const isNew = !base.split("\n").includes(line);
        if (isNew) expect(came).toContain(line);
      }
      for (const line of base.split("\n")) {
        const isKept = mine.split("\n").includes(line) && theirs.split("\n").includes(line);
        if (isKept) expect(came).toContain(line);
      }
    }),
    { numRuns: 500 },
  );
});

test("a merged value says which two lines may be versions of one", () => {
  const from = versionOf("one\ntwo\nthree\n", []);
  const one = versionOf("one\ntwo, by one\nthree\n", [from.id]);
  const other = versionOf("zero\none\ntwo, by the other\nand more\nthree\n", [from.id]);
  const merged = mergeVersions(one, other, { ...among(from, one, other), ...NOTHING_OWN });
  const { places } = parseVersion(merged?.value ?? "").notes;
  const told = places.map(({ mine, theirs }) => [mine, theirs].sort());
  expect(told).toEqual([["two, by one\n", "two, by the other\n"]]);
  expect(parseVersion(merged?.value ?? "")).toEqual(merged ?? one);
});

test("without the text that both were made of no line is taken for a deleted one", () => {
  const one = versionOf("a\nb\n", ["aaaaaaaaaa"]);
  const other = versionOf("b\nc\n", ["bbbbbbbbbb"]);
  const known = among(one, other);
  expect(mergeVersions(one, other, { ...known, ...NOTHING_OWN })).toBeUndefined();
  const united = mergeVersions(one, other, { ...known, ...ALL_OWN });
  expect(united?.notes.isUnited).toBe(true);
  expect(united?.text.split("\n").sort()).toEqual(["", "a", "b", "c"]);
});
