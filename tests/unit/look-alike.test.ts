import { expect, test } from "bun:test";
import { lookAlikeLine } from "../../cli/writes/look-alike.ts";
import { findLookAlike, toldBy } from "../../shared/look-alike.ts";

const looksLike = (key: string, other: string) => findLookAlike(key, [other]) === other;

test.each([
  ["personal/instructions", "personal/instructi\u043ens"],
  ["personal/instructions", "personal/instruction\u015b"],
  ["personal/instructions", "Personal Instructions"],
  ["notes", "notes.md"],
  ["notes", "n\u200botes"],
  ["notes", "ｎｏｔｅｓ"],
  ["notes", "\u0578otes".replace("\u0578", "n\u0307")],
  ["api-key", "api_key"],
  ["сон", "coh"],
])("%s looks like %s", (key, other) => {
  expect([looksLike(key, other), looksLike(other, key)]).toEqual([true, true]);
});

test.each([
  ["notes", "notes"],
  ["notes", "note"],
  ["notes-1", "notes-2"],
  ["日本", "日本語"],
  ["style", "styles.md"],
])("%s does not look like %s", (key, other) => {
  expect(looksLike(key, other)).toBe(false);
});

test("what is said names both, and by what they can be told apart", () => {
  expect(toldBy("n\u043ets", "nots")).toBe('"\u043e" (U+043E)');
  expect(lookAlikeLine("notes", ["other"])).toBeUndefined();
  expect(lookAlikeLine("notes.md", ["other", "notes"])).toBe(
    "the key looks like that of another memory, notes, which stays beside it",
  );
});
