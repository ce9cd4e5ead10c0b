import { expect, test } from "bun:test";
import { isUncut } from "../../daemon/files/state/unfinished.ts";

test("what is left at the end of a text that was written over is found, be it one character", () => {
  for (const former of ["- one\n- a typo\n", "- one\n- a typo", "- one\n- two words"]) {
    for (const left of [1, 2, 5]) {
      if (former.endsWith("\n") && left === 1) continue;
      const written = `${"- anew\n- as is\n".repeat(2)}`.slice(0, former.length - left - 1);
      const content = `${written}\n${former.slice(-left)}`;
      expect([former, content, isUncut(former, content)]).toEqual([former, content, true]);
    }
  }
});

test("a text of as many bytes that has but its last break in common is a whole one", () => {
  expect(isUncut("- one\n- two (2)\n- of b\n", "- one\n- of a\n- two (2)\n")).toBe(false);
  expect(isUncut("- one\n- two", "- o\n- three")).toBe(false);
});
