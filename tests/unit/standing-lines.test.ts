import { expect, test } from "bun:test";
import { isOver, isSettledIn } from "../../shared/replica/conflicts/over-conflict.ts";
import type {
  TextConflictKind,
  TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { holdsAnyLine, standsTwice } from "../../shared/replica/text/standing-lines.ts";

const BLOCK = "if (one) {\n}\n";
const OTHER = "# Guide\n\n---\n\nif (two) {\n}\n\nif (three) {\n}\n";

function conflict(kind: TextConflictKind, ...texts: readonly [string, string]) {
  const [one, other] = texts.map((text): TextVersion => {
    return { text, cut: false, machine: "a", at: 1, places: [], isStanding: false };
  }) as [TextVersion, TextVersion];
  return { kind, versions: [one, other] as const };
}

test("a bracket or a rule that stands elsewhere says nothing of lines that are gone", () => {
  expect(holdsAnyLine(OTHER, BLOCK)).toBe(false);
  expect(holdsAnyLine(OTHER + BLOCK, BLOCK)).toBe(true);
  expect(standsTwice(OTHER + BLOCK, BLOCK)).toBe(false);
  expect(standsTwice(OTHER + BLOCK + BLOCK, BLOCK)).toBe(true);
  // Of lines that are nothing else, they say all.
  expect(holdsAnyLine(OTHER, "---\n")).toBe(true);
  expect(holdsAnyLine(OTHER, "***\n")).toBe(false);
});

test("a conflict is over once its block is gone, though another block ends alike", () => {
  const asked = conflict("unseen", BLOCK, "if (four) {\n}\n");
  expect(isOver(asked, OTHER + BLOCK)).toBe(true);
  expect(isOver(asked, `${OTHER}${BLOCK}if (four) {\n}\n`)).toBe(false);
  expect(isSettledIn(conflict("twice", BLOCK, BLOCK), OTHER + BLOCK)).toBe(true);
});
