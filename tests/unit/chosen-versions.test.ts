import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { placedVersions } from "../../cli/local/local-conflicts.ts";
import { settle } from "../../cli/writes/settle-conflict.ts";
import { changeBetween } from "../../daemon/files/arrivals/arrivals.ts";
import { planSave } from "../../daemon/files/saves/plan-save.ts";
import {
  listTextConflicts,
  recordTextConflict,
  type TextConflictRecord,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";

const NOW = 1_750_000_000_000;
const [OTHERS, HERE] = ["desktop", "laptop"];

/** A file that showed `before` until others made it `shown`, just now; and a save of it. */
function saved(before: string, shown: string, save: string): ReplicaDocument {
  const document = new ReplicaDocument([], 1);
  const state = () => ({ hash: "", base: document.captureText(), form: document.textForm() });
  document.setContent(before, NOW);
  const from = state();
  document.setContent(shown, NOW);
  const change = changeBetween(from, state());
  const unseen = change ? [{ ...change, id: 1, at: NOW, machine: OTHERS }] : [];
  const { base } = state();
  const facts = {
    base,
    live: base,
    unseen,
    author: { machine: HERE },
    savedAt: NOW,
    isPulled: false,
  };
  const plan = planSave({ ...facts, lines: save });
  document.editText(plan.base, plan.lines);
  for (const conflict of plan.conflicts) recordTextConflict(document, conflict, { now: NOW });
  return document;
}

/** The text once each conflict is settled by the version of one machine. */
function choose(document: ReplicaDocument, machine: string | undefined): string {
  return listTextConflicts(document).reduce(
    (content, record) => settle(conflictOf(record, content), indexOf(record, machine)).content,
    document.content(),
  );
}

function indexOf({ versions }: TextConflictRecord, machine: string | undefined): number {
  return versions.findIndex((version) => version.machine === machine);
}

function conflictOf(record: TextConflictRecord, content: string) {
  const versions = placedVersions(record, content);
  return { kind: "text", record, versions, content } as unknown as Parameters<typeof settle>[0];
}

describe("the blank lines that came with lines", () => {
  const texts: readonly (readonly [string, string, string, string, string])[] = [
    ["between others", "A\n\nB\n", "A\n\nX\n\nB\n", "A\n\nB\nmine\n", "A\n\nX\n\nB\nmine\n"],
    ["at the end", "A\n\nB\n", "A\n\nB\n\nX\n", "mine\nA\n\nB\n", "mine\nA\n\nB\n\nX\n"],
    ["at the beginning", "A\n\nB\n", "X\n\nA\n\nB\n", "A\n\nB\nmine\n", "X\n\nA\n\nB\nmine\n"],
    ["in two places", "A\n\nB\n", "A\n\nX\n\nB\n\nY\n", "A\n\nB\n", "A\n\nX\n\nB\n\nY\n"],
    ["that went", "A\n\nX\n\nB\n", "A\n\nB\n", "A\n\nX\n\nB\nmine\n", "A\n\nB\nmine\n"],
    ["that went at the end", "A\n\nX\n", "A\n", "mine\nA\n\nX\n", "mine\nA\n"],
    [
      "that others moved",
      "A\n\nX\n\nB\n\nC\n",
      "A\n\nB\n\nX\n\nC\n",
      "A\n\nX\n\nB\n\nC\nmine\n",
      "A\n\nB\n\nX\n\nC\nmine\n",
    ],
    [
      "that the save moved",
      "A\n\nB\n\nC\n",
      "A\n\nX\n\nY\n\nB\n\nC\n",
      "A\n\nB\n\nX\n\nY\n\nC\n",
      "A\n\nX\n\nY\n\nB\n\nC\n",
    ],
  ];
  for (const [name, before, shown, save, theirs] of texts) {
    test(`the blank lines that came with lines go and come with them: ${name}`, () => {
      const document = saved(before, shown, save);
      expect(listTextConflicts(document)).not.toEqual([]);
      expect(choose(document, HERE)).toBe(save);
      expect(choose(document, OTHERS)).toBe(theirs);
    });
  }

  test("the blank lines that came with lines stay where somebody has put further ones, or lines between", () => {
    const document = saved("A\n\nB\n", "A\n\nX\n\nB\n", "A\n\nB\n");
    document.setContent("A\n\n\nX\n\n\nB\n", NOW);
    expect(choose(document, HERE)).toBe("A\n\n\n\nB\n");
    document.setContent("A\n\nX\nY\n\nB\n", NOW);
    expect(choose(document, HERE)).toBe("A\n\nY\n\nB\n");
    document.setContent("A\nX\nB\n\nC\n", NOW);
    expect(choose(document, HERE)).toBe("A\nB\n\nC\n");
  });

  test("the blank lines that came with lines that part what stays are never taken along", () => {
    const document = saved("A\n\nX\n\nB\n", "A\n\nB\n", "A\n\nnew\n\nX\n\nmore\n\nB\n");
    expect(choose(document, OTHERS)).toBe("A\n\nnew\n\nmore\n\nB\n");
    const close = saved("A\nX\nB\n", "A\nB\n", "A\nnew\n\nX\nmore\nB\n");
    expect(choose(close, OTHERS)).toBe("A\nnew\n\nmore\nB\n");
  });

  test("the blank lines that came with lines stay between what others brought and what a save has put beside it", () => {
    const [before, shown] = ["A\nB\n\nC\n", "A\n\nX\n\nC\n"];
    const document = saved(before, shown, "A\nB\n\nmine\n\nC\n");
    expect(document.content()).toBe("A\nB\n\nmine\n\nX\n\nC\n");
    expect(choose(document, HERE)).toBe("A\nB\n\nmine\n\nC\n");
    expect(choose(document, OTHERS)).toBe(shown);
  });

  test("the blank lines that came with lines are not fewer than before where a save brings lines back on both sides of one", () => {
    const [before, shown] = ["A\n\nX\n\nY\nB\n", "A\n\n\nB\n"];
    const document = saved(before, shown, before);
    expect(document.content()).toBe(before);
    expect(choose(document, OTHERS)).toBe(shown);
  });

  test("the blank lines that came with lines are those that one side had, whichever version is chosen", () => {
    fc.assert(
      fc.property(anyChange(), fc.boolean(), ({ less, more, own }, isAddition) => {
        const [before, shown] = isAddition ? [less, more] : [more, less];
        const document = saved(before, shown, own + before);
        expect(listTextConflicts(document)).toHaveLength(1);
        expect(choose(document, HERE)).toBe(own + before);
        expect(choose(document, OTHERS)).toBe(own + shown);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Paragraphs with one to three blank lines between them, of which some stand in one text alone. */
function anyChange() {
  const paragraph = fc.record({
    lines: fc.integer({ min: 1, max: 3 }),
    blank: fc.integer({ min: 1, max: 3 }),
  });
  return fc
    .tuple(
      fc.array(paragraph, { minLength: 2, maxLength: 5 }),
      fc.nat(4),
      fc.integer({ min: 1, max: 2 }),
    )
    .map(([all, from, count]) => {
      const texts = all.map(({ lines, blank }, at) => {
        return (
          Array.from({ length: lines }, (_, i) => `${at}-${i}\n`).join("") + "\n".repeat(blank)
        );
      });
      const start = from % texts.length;
      const rest = texts.toSpliced(start, count);
      const [more, less] = [texts, rest].map((each) => `head\n\n${each.join("")}`);
      return { more: more ?? "", less: less ?? "", own: "own\n\n" };
    });
}
