import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  joinLines,
  linesOf,
  nobodysLine,
  splitLines,
} from "../../daemon/files/lines/text-lines.ts";
import { besideAside } from "../../daemon/files/saves/beside-aside.ts";
import {
  listTextConflicts,
  recordTextConflict,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { NOW } from "../support/replicas.ts";

const [ONE, TWO, THREE] = ["- from a\n", "- from c\n", "- from d\n"] as const;
const PUT = "- put by git\n";
const ASIDE = `${ONE}${TWO}${THREE}`;

let document: ReplicaDocument;

beforeEach(() => {
  document = new ReplicaDocument([], 1);
  document.setContent(`# Guide\n${ASIDE}# End\n`, NOW);
});

afterEach(() => document.ydoc.destroy());

/** What a save comes to, where git has put one line in the place of these, told by conflicts. */
function taken(saved: string, conflicts: readonly string[]) {
  for (const text of conflicts) {
    const places = [{ behind: "# Guide\n", text }];
    const versions = [
      { text, machine: undefined, places, isStanding: true },
      { text: PUT, machine: "b" },
    ] as const;
    recordTextConflict(document, { kind: "set-aside", versions }, { now: NOW });
  }
  const kept = linesOf(document.captureText()).filter(({ text }) => text.startsWith("#"));
  const [title, end] = kept;
  if (!title || !end) throw new Error("the text has two headings");
  const base = joinLines([title, nobodysLine(PUT), end]);
  const aside = listTextConflicts(document);
  const found = besideAside({ document } as OpenDocument, { base, lines: saved, aside });
  const lines = splitLines(found.lines);
  const own = lines.filter((_, at) => !found.added.has(at)).join("");
  return { base: found.base.text, lines: found.lines, own };
}

const inFile = (text: string) => `# Guide\n${text}# End\n`;

/** What is typed in the file; of the text with what was set aside: the base, and the save. */
const TYPED: Readonly<Record<string, readonly [typed: string, base: string, lines: string]>> = {
  "none of them": [`${PUT}- new\n`, `${ASIDE}${PUT}`, `${ASIDE}${PUT}- new\n`],
  "all of them above": [`${ASIDE}${PUT}`, `${ASIDE}${PUT}`, `${ASIDE}${PUT}`],
  "all of them below": [`${PUT}${ASIDE}`, `${PUT}${ASIDE}`, `${PUT}${ASIDE}`],
  "the one in the middle above": [`${TWO}${PUT}`, `${ASIDE}${PUT}`, `${ASIDE}${PUT}`],
  "the one in the middle below": [
    `${PUT}${TWO}`,
    `${ONE}${PUT}${TWO}${THREE}`,
    `${ONE}${PUT}${TWO}${THREE}`,
  ],
  "one above and one below": [
    `- new\n${ONE}${PUT}${THREE}- newer\n`,
    `${ONE}${TWO}${PUT}${THREE}`,
    `- new\n${ONE}${TWO}${PUT}${THREE}- newer\n`,
  ],
};

for (const conflicts of [[ASIDE], [ONE, `${TWO}${THREE}`], [THREE, TWO, ONE]] as const) {
  for (const [which, [typed, base, lines]] of Object.entries(TYPED)) {
    test(`whoever types ${which} again has them once, of ${conflicts.length} conflicts`, () => {
      expect(taken(inFile(typed), conflicts)).toEqual({
        base: inFile(base),
        lines: inFile(lines),
        own: inFile(typed),
      });
    });
  }
}

test("a line that is typed again below another one of them, which is above, is a new one", () => {
  expect(taken(inFile(`${THREE}${PUT}${ONE}`), [ASIDE])).toMatchObject({
    base: inFile(`${ASIDE}${PUT}`),
    lines: inFile(`${ASIDE}${PUT}${ONE}`),
  });
});
