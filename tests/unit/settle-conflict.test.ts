import { describe, expect, test } from "bun:test";
import type { TextConflict } from "../../cli/local/local-conflicts.ts";
import { settle } from "../../cli/writes/settle-conflict.ts";
import type { TextConflictKind } from "../../shared/replica/conflicts/text-conflict-record.ts";

interface Side {
  readonly text: string;
  readonly inText: boolean;
  readonly behind?: string;
}

function conflict(content: string, one: Side, other: Side, kind: TextConflictKind = "unseen") {
  const versions = [one, other].map(({ text, inText, behind }) => ({
    text,
    inText,
    cut: false,
    machine: undefined,
    at: undefined,
    isStanding: inText,
    places: behind === undefined ? [] : [{ behind, text }],
  }));
  return { kind: "text", record: { kind }, versions, content } as unknown as TextConflict;
}

const NONE = { text: "", inText: false };

describe("choosing a version", () => {
  test("takes out the lines that are meant, not equal ones before them", () => {
    const content = "# One\n- run tests\n# Two\n- run tests\n- y\n";
    const kept = { text: "- run tests\n", inText: true, behind: "# Two\n" };
    const settled = settle(conflict(content, kept, NONE), 1);
    expect(settled.content).toBe("# One\n- run tests\n# Two\n- y\n");
  });

  test("is refused where nobody can say which lines are meant", () => {
    const content = "# One\n- run tests\n# Two\n- run tests\n";
    const kept = { text: "- run tests\n", inText: true, behind: "# Three\n" };
    expect(() => settle(conflict(content, kept, NONE), 1)).toThrow("stand at several places");
    const changed = { text: "one\ntwo\n", inText: true };
    expect(() => settle(conflict("one\nnew\ntwo\n", changed, NONE), 1)).toThrow("changed since");
  });

  test("is refused where the only equal line stands elsewhere: the one that was meant is out", () => {
    const content = "# A\n\nfirst\nRun the tests.\n\n# B\n\nsecond\n";
    const kept = { text: "Run the tests.\n", inText: true, behind: "second\n" };
    expect(() => settle(conflict(content, kept, NONE), 1)).toThrow("changed since");
    const near = content.replace("second\n", "second\nnew\nRun the tests.\n");
    const parted = near.replace("first\nRun the tests.\n", "first\n");
    expect(settle(conflict(parted, kept, NONE), 1).content).toBe(
      parted.replace("Run the tests.\n", ""),
    );
  });

  test("puts a version that is not there in the place of the one that is", () => {
    const there = { text: "- two of b\n", inText: true };
    const gone = { text: "- two of a\n", inText: false };
    const settled = settle(conflict("- one\n- two of b\n- three\n", there, gone, "both"), 1);
    expect(settled.content).toBe("- one\n- two of a\n- three\n");
  });

  test("writes anew what stands, so that another choice elsewhere takes nothing away", () => {
    const [one, other] = [
      { text: "a\n", inText: true },
      { text: "b\n", inText: true },
    ];
    const settled = settle(conflict("x\na\nb\n", one, other, "both"), 0);
    expect(settled).toEqual({ without: "x\n", content: "x\na\n" });
  });

  test("brings the lines of a deletion back where they stood, between blank lines", () => {
    const sections = [1, 2, 3].map((at) => `## S${at}\n\n- of ${at}\n\n`);
    const lost = { text: sections[1] ?? "", inText: false, behind: "\n- of 1\n\n" };
    const content = `${sections[0]}${sections[2]}`;
    const settled = settle(conflict(content, NONE, lost, "deletion"), 1);
    expect(settled.content).toBe(sections.join(""));
  });

  test("brings lines back behind that of two equal neighbours which they stood behind", () => {
    const content = "# A\n- run\n# B\n- run\n# C\n";
    const lost = { text: "- gone\n", inText: false, behind: "# B\n- run\n" };
    const brought = "# A\n- run\n# B\n- run\n- gone\n# C\n";
    expect(settle(conflict(content, NONE, lost), 1).content).toBe(brought);
    const renamed = content.replace("# B", "# Bee");
    expect(settle(conflict(renamed, NONE, lost), 1).content).toContain("- run\n- gone\n");
  });

  test("finds lines however they end, and leaves the endings of all others", () => {
    const [there, gone] = [
      { text: "b\n", inText: true, behind: "a\n" },
      { text: "B\n", inText: false },
    ];
    const mixed = "a\r\nb\r\nc\nd\r\n";
    expect(settle(conflict(mixed, there, NONE), 1).content).toBe("a\r\nc\nd\r\n");
    expect(settle(conflict(mixed, there, gone), 1).content).toBe("a\r\nB\nc\nd\r\n");
  });

  test("of two line endings makes that of all lines, and doubles no CR", () => {
    const [crlf, lf, mixed] = (["crlf", "lf", "mixed"] as const).map((eol) => {
      return { text: JSON.stringify({ bom: false, eol, final_newline: true }), inText: false };
    }) as [Side, Side, Side];
    const content = "one\r\ntwo\nthree\r\n";
    const chosen = (one: Side, other: Side) =>
      settle(conflict(content, one, other, "format"), 0).content;
    expect(chosen(crlf, lf)).toBe("one\r\ntwo\r\nthree\r\n");
    expect(chosen(lf, crlf)).toBe("one\ntwo\nthree\n");
    expect(chosen({ ...mixed, inText: true }, crlf)).toBe(content);
    expect(() => chosen(mixed, crlf)).toThrow("nobody knows any more which lines");
    const marked = { ...mixed, text: mixed.text.replace('"bom":false', '"bom":true') };
    expect(chosen(marked, mixed)).toBe(`\uFEFF${content}`);
  });

  test("moves lines to where the other version has them", () => {
    const standing = { text: "b\n", inText: true };
    const wanted = { text: "b\n", inText: false, behind: "a\n" };
    const settled = settle(conflict("a\nc\nb\n", standing, wanted, "moved"), 1);
    expect(settled.content).toBe("a\nb\nc\n");
  });
});
