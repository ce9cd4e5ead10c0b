import { expect, test } from "bun:test";
import { isOver, isSettledIn } from "../../shared/replica/conflicts/over-conflict.ts";
import {
  listTextConflicts,
  recordTextConflict,
  type TextConflictKind,
  type TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { holdsAnyLine, standsTwice } from "../../shared/replica/text/standing-lines.ts";

const BLOCK = "if (one) {\n}\n";
const OTHER = "# Guide\n\n---\n\nif (two) {\n}\n\nif (three) {\n}\n";

const AT = 1_750_000_000_000;

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

test("a deletion is told until its lines stand beside the equal ones that stood when it was told", () => {
  const document = new ReplicaDocument([], 7);
  const left = "# Guide\n\n## Test\n\n- ask first\n";
  document.setContent(left, AT);
  const places = [
    { behind: "## Build\n", text: "- ask first\n- run it\n", ahead: "" },
    { behind: "## Ship\n", text: "- ask first\n", ahead: "" },
  ];
  const text = places.map((place) => place.text).join("");
  const gone = { text, machine: undefined, places };
  const versions = [gone, { text: "", machine: "a", at: AT }] as const;
  recordTextConflict(document, { kind: "deletion", versions, lines: 3 }, { now: AT });
  const [told, ...more] = listTextConflicts(document);
  expect(more).toEqual([]);
  const isOverIn = (content: string) => told && isOver(told, content);
  expect(isOverIn(left)).toBe(false);
  expect(isOverIn(`${left}- run it\n`)).toBe(false);
  expect(isOverIn(`${left}- run it\n- ask first\n`)).toBe(false);
  expect(isOverIn(`${left}- run it\n- ask first\n- ask first\n`)).toBe(true);
});
