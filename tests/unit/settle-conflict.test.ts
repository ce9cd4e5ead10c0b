import { describe, expect, test } from "bun:test";
import type { TextConflict } from "../../cli/local/local-conflicts.ts";
import { bringAllBack } from "../../cli/writes/bring-all-back.ts";
import { keepAll } from "../../cli/writes/dismiss-conflict.ts";
import { settle } from "../../cli/writes/settle-conflict.ts";
import type { TextConflictKind } from "../../shared/replica/conflicts/text-conflict-record.ts";

interface Side {
  readonly text: string;
  readonly inText: boolean;
  readonly behind?: string;
  readonly ahead?: string;
}

function conflict(content: string, one: Side, other: Side, kind: TextConflictKind = "unseen") {
  const versions = [one, other].map(({ text, inText, behind, ahead }) => ({
    text,
    inText,
    cut: false,
    machine: undefined,
    at: undefined,
    isStanding: inText,
    places: behind === undefined ? [] : [{ behind, text, ...(ahead !== undefined && { ahead }) }],
  }));
  return { kind: "text", record: { kind }, versions, content } as unknown as TextConflict;
}

const NONE = { text: "", inText: false };

describe("choosing a version", () => {
  test("choosing a version takes out the lines that are meant, not equal ones before them", () => {
    const content = "# One\n- run tests\n# Two\n- run tests\n- y\n";
    const kept = { text: "- run tests\n", inText: true, behind: "# Two\n" };
    const settled = settle(conflict(content, kept, NONE), 1);
    expect(settled.content).toBe("# One\n- run tests\n# Two\n- y\n");
  });

  test("choosing a version is refused where nobody can say which lines are meant", () => {
    const content = "# One\n- run tests\n# Two\n- run tests\n";
    const kept = { text: "- run tests\n", inText: true, behind: "# Three\n" };
    expect(() => settle(conflict(content, kept, NONE), 1)).toThrow("stand at several places");
    const changed = { text: "one\ntwo\n", inText: true };
    expect(() => settle(conflict("one\nnew\ntwo\n", changed, NONE), 1)).toThrow("changed since");
  });

  test("choosing a version takes out no equal line that stands elsewhere: the one that was meant is out", () => {
    const content = "# A\n\nfirst\nRun the tests.\n\n# B\n\nsecond\n";
    const kept = { text: "Run the tests.\n", inText: true, behind: "second\n", ahead: "" };
    const settled = settle(conflict(content, kept, NONE), 1);
    expect(settled).toEqual({ without: content, content, elsewhere: "Run the tests.\n" });
    const near = content.replace("second\n", "second\nnew\nRun the tests.\n");
    const parted = near.replace("first\nRun the tests.\n", "first\n");
    expect(settle(conflict(parted, kept, NONE), 1).content).toBe(
      parted.replace("Run the tests.\n", ""),
    );
  });

  test("a version of which a line was moved within its section is no second one there", () => {
    const content = "## One\n\n- a1\n\n## Four\n\n- ours\n- theirs\n- moved\n";
    const ours = { text: "- ours\n", inText: true, behind: "- moved\n", ahead: "" };
    const theirs = { text: "- theirs\n- more\n", inText: true, behind: "- moved\n", ahead: "" };
    const both = conflict(content, ours, theirs, "both");
    for (const nth of [0, 1]) expect(() => settle(both, nth)).toThrow("stand at several places");
    const above = content
      .replace("- a1\n", "- a1\n- ours\n")
      .replace("## Four\n\n- ours\n", "## Four\n\n");
    expect(settle(conflict(above, ours, NONE, "both"), 0).content).toContain("- moved\n- ours\n");
  });

  const steps = (own: string) =>
    `## Build\n\n- install\n${own}- pack\n\n## Test\n\n- start db\n- run tests\n- stop db\n`;
  const place = { inText: true, behind: "- install\n", ahead: "- pack\n" };
  const [tests, checks] = [
    { ...place, text: "- run tests\n" },
    { ...place, text: "- run checks\n" },
  ];

  test("choosing one of two versions leaves an equal line of another section, once its own was taken out by hand", () => {
    const content = steps("- run checks\n");
    expect(settle(conflict(content, tests, checks, "both"), 1).content).toBe(content);
    const chosen = settle(conflict(content, tests, checks, "both"), 0);
    expect(chosen).toEqual({ without: steps(""), content: steps("- run tests\n") });
  });

  test("choosing one of two versions takes out the one that is meant, whichever of the two stands first", () => {
    for (const both of ["- run tests\n- run checks\n", "- run checks\n- run tests\n"]) {
      for (const [at, { text }] of [tests, checks].entries()) {
        const settled = settle(conflict(steps(both), tests, checks, "both"), at);
        expect(settled).toMatchObject({ without: steps(""), content: steps(text) });
      }
    }
  });

  test("choosing a version takes no line of the one for the other's that begins or ends alike", () => {
    const [one, two] = [
      { ...place, text: "- a\n" },
      { ...place, text: "- a\n- b\n" },
    ];
    for (const both of ["- a\n- a\n- b\n", "- a\n- b\n- a\n"]) {
      for (const [at, { text }] of [one, two].entries()) {
        const settled = settle(conflict(steps(both), one, two, "both"), at);
        expect(settled.content).toBe(steps(text));
      }
    }
  });

  test("choosing a version is refused where an equal line followed on its own, and one of the two is gone", () => {
    const twin = { ...tests, ahead: "- run tests\n" };
    const [side, content] = [{ ...checks, ahead: twin.ahead }, "- run checks\n- run tests\n"];
    expect(() => settle(conflict(steps(content), twin, side, "both"), 1)).toThrow("several places");
  });

  test("choosing a version settles every place that two machines changed alike", () => {
    const versions = [tests, checks].map(({ text }) => ({
      text: text + text,
      inText: true,
      cut: false,
      places: ["- install\n", "- start db\n"].map((behind) => ({ behind, text, ahead: "" })),
    }));
    const content = `- install\n${tests.text}${checks.text}- start db\n${tests.text}${checks.text}`;
    const meant = { kind: "text", record: { kind: "both" }, versions, content } as unknown;
    expect(settle(meant as TextConflict, 1).content).toBe(
      `- install\n${checks.text}- start db\n${checks.text}`,
    );
  });

  test("choosing a version is refused where what named the place is gone, and equal lines stand elsewhere", () => {
    const [section] = steps("").split("## Test");
    const content = steps("").replace(section ?? "-", "");
    const kept = { ...place, text: "- run tests\n" };
    expect(() => settle(conflict(content, kept, NONE), 1)).toThrow("stand at several places");
    const unplaced = [tests, checks].map(({ text }) => ({ text, inText: true }));
    const [one, other] = unplaced as [Side, Side];
    const without = steps("- run checks\n");
    expect(() => settle(conflict(without, one, other, "both"), 1)).toThrow("several places");
  });

  test("choosing a version is refused where a line stands beside it that is in no version", () => {
    const mended = steps("- run tests -v\n- run checks\n");
    for (const at of [0, 1]) {
      const meant = conflict(mended, tests, checks, "both");
      expect(() => settle(meant, at)).toThrow("`- run tests -v` stands where");
    }
    const below = { ...tests, ahead: "" };
    const end = "- install\n- run checks\n- run tests -v\n";
    expect(() => settle(conflict(end, below, { ...checks, ahead: "" }, "both"), 1)).toThrow("-v");
    const added = steps("- run tests\n- run checks\n- and more\n");
    expect(settle(conflict(added, tests, checks, "both"), 1).content).toBe(
      steps("- run checks\n- and more\n"),
    );
  });

  test("choosing a version brings back no line that somebody has put back there since", () => {
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => `- line ${from + at}\n`).join("");
    const lost = { text: `\n## Sec\n\n${lines(0, 9)}`, inText: false, behind: "- keep\n" };
    const whole = `# T\n\n- keep\n${lost.text}`;
    for (const ahead of [undefined, ""]) {
      const side = ahead === undefined ? lost : { ...lost, ahead };
      const content = `# T\n\n- keep\n\n## Sec\n\n${lines(2, 5)}`;
      const restored = conflict(content, NONE, side, "deletion");
      expect(settle(restored, 1).content).toBe(whole);
      const there = bringAllBack(restored, restored.versions.slice(1));
      expect(there).toEqual({ content: whole, there: 4 });
    }
    const others = `# T\n\n- keep\n\n## Other\n\n- line 3\n`;
    const beside = settle(conflict(others, NONE, { ...lost, ahead: "" }, "deletion"), 1);
    expect(beside.content).toBe(`${whole}\n## Other\n\n- line 3\n`);
  });

  test.each(["both", "unseen", "renewed", "set-aside", "deletion"] as const)(
    "a version that is put back beside the other one settles what is %s",
    (kind) => {
      const there = { text: "- two of b\n", inText: true, behind: "- one\n" };
      const gone = { text: "- two of a\n", inText: false, behind: "- one\n" };
      const open = conflict("- one\n- two of b\n- three\n", there, gone, kind);
      const { choice } = keepAll(open, open.versions.slice(1));
      expect(choice.values.at(-1)).toBe("- one\n- two of b\n- two of a\n- three\n");
      expect(choice.settles?.map(({ id }) => id)).toEqual([open.id]);
    },
  );

  test("choosing a version puts a version that is not there in the place of the one that is", () => {
    const there = { text: "- two of b\n", inText: true, behind: "- one\n" };
    const gone = { text: "- two of a\n", inText: false };
    const settled = settle(conflict("- one\n- two of b\n- three\n", there, gone, "both"), 1);
    expect(settled.content).toBe("- one\n- two of a\n- three\n");
  });

  test("choosing a version writes anew what stands, so that another choice elsewhere takes nothing away", () => {
    const [one, other] = [
      { text: "a\n", inText: true },
      { text: "b\n", inText: true },
    ];
    const settled = settle(conflict("x\na\nb\n", one, other, "both"), 0);
    expect(settled).toEqual({ without: "x\n", content: "x\na\n" });
  });

  test("choosing a version brings the lines of a deletion back where they stood, between blank lines", () => {
    const sections = [1, 2, 3].map((at) => `## S${at}\n\n- of ${at}\n\n`);
    const lost = { text: sections[1] ?? "", inText: false, behind: "\n- of 1\n\n" };
    const content = `${sections[0]}${sections[2]}`;
    const settled = settle(conflict(content, NONE, lost, "deletion"), 1);
    expect(settled.content).toBe(sections.join(""));
  });

  test("choosing a version brings lines back behind that of two equal neighbours which they stood behind", () => {
    const content = "# A\n- run\n# B\n- run\n# C\n";
    const lost = { text: "- gone\n", inText: false, behind: "# B\n- run\n" };
    const brought = "# A\n- run\n# B\n- run\n- gone\n# C\n";
    expect(settle(conflict(content, NONE, lost), 1).content).toBe(brought);
    const renamed = content.replace("# B", "# Bee");
    expect(settle(conflict(renamed, NONE, lost), 1).content).toContain("- run\n- gone\n");
  });

  test("choosing a version puts a moved section where the other machine had moved it", () => {
    const section = "## Build\n\nUse make.\n";
    const content = `# T\n\nintro\n\n## Test\n\nUse make test.\n\n${section}`;
    const there = { text: section, inText: true, behind: "Use make test.\n\n" };
    const first = { text: section, inText: false, behind: "" };
    const moved = settle(conflict(content, first, there, "moved"), 0).content;
    expect(moved.startsWith(`${section}# T\n`)).toBe(true);
    expect(moved.split(section)).toHaveLength(2);
    expect(settle(conflict(content, first, there, "moved"), 1).content).toBe(content);
  });

  test("choosing a version finds lines however they end, and leaves the endings of all others", () => {
    const [there, gone] = [
      { text: "b\n", inText: true, behind: "a\n" },
      { text: "B\n", inText: false },
    ];
    const mixed = "a\r\nb\r\nc\nd\r\n";
    expect(settle(conflict(mixed, there, NONE), 1).content).toBe("a\r\nc\nd\r\n");
    expect(settle(conflict(mixed, there, gone), 1).content).toBe("a\r\nB\nc\nd\r\n");
  });

  test("choosing one of two line endings makes that of all lines, and doubles no CR", () => {
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

  test("choosing a version moves lines to where the other version has them", () => {
    const standing = { text: "b\n", inText: true, behind: "c\n" };
    const wanted = { text: "b\n", inText: false, behind: "a\n" };
    const settled = settle(conflict("a\nc\nb\n", standing, wanted, "moved"), 1);
    expect(settled.content).toBe("a\nb\nc\n");
  });
});
