import { expect, setDefaultTimeout, test } from "bun:test";
import type { TextConflict } from "../../cli/local/local-conflicts.ts";
import { settledWith } from "../../cli/writes/settle-conflict.ts";
import { withoutCovered } from "../../shared/replica/conflicts/covered-conflict.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import type {
  TextConflictRecord,
  TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const CONTENT = "# Guide\n\nyarn\nnpm\npnpm\n\n## Test\n\nbun\n";

const lab = foldersOfEach();

function version(text: string, behind = "# Guide\n\n"): TextVersion {
  const places = text === "" ? [] : [{ behind, text }];
  return { text, cut: false, machine: "a", at: undefined, places, isStanding: false };
}

function conflict(
  id: string,
  versions: readonly [TextVersion, TextVersion],
  changes: Partial<TextConflictRecord> = {},
): TextConflictRecord {
  return { id, kind: "unseen", foundAt: 1, versions, lines: undefined, ...changes };
}

function shown(...records: readonly TextConflictRecord[]) {
  return withoutCovered(records, CONTENT).map(({ record, covered }) => [
    record.id,
    ...covered.map(({ id }) => id),
  ]);
}

const WHOLE = conflict("whole", [version("yarn\n"), version("npm\npnpm\n")]);

test("a conflict is covered by one that says all of it, whichever side is named first", () => {
  const part = conflict("part", [version("yarn\n"), version("npm\n")], { kind: "both" });
  const turned = conflict("turned", [version("pnpm\n", "npm\n"), version("yarn\n")]);
  expect(shown(part, WHOLE, turned)).toEqual([["whole", "part", "turned"]]);
});

test("what has gone from the text since does not keep a conflict from being covered", () => {
  const longer = conflict("longer", [version("yarn\n"), version("npm\ncorepack\n")]);
  expect(shown(longer, WHOLE)).toEqual([["whole", "longer"]]);
});

test("of two conflicts that say the same the later one is shown", () => {
  const again = conflict("again", WHOLE.versions, { foundAt: 2 });
  expect(shown(again, WHOLE)).toEqual([["again", "whole"]]);
  expect(shown(WHOLE, again)).toEqual([["again", "whole"]]);
});

test("who deletes lines that it writes something else for says nothing beyond that", () => {
  expect(shown(conflict("deleted", [version("yarn\n"), version("")]), WHOLE)).toEqual([
    ["whole", "deleted"],
  ]);
});

test("what stands at two places may be a conflict at each, and covers nothing", () => {
  const content = `${CONTENT}yarn\nnpm\n`;
  const other = conflict("other", [version("yarn\n", "bun\n"), version("npm\n", "bun\n")]);
  expect(withoutCovered([other, WHOLE], content).map(({ record }) => record.id)).toEqual([
    "other",
    "whole",
  ]);
});

test("a conflict that says more, or is of another kind, is not covered", () => {
  const others = [
    conflict("deleted", [version("yarn\n"), { ...version(""), machine: "c" }]),
    conflict("moved", [version("yarn\n"), version("npm\n")], { kind: "moved" }),
    conflict("cut", [{ ...version("yarn\n"), cut: true }, version("npm\n")]),
    conflict("more", [version("yarn\n"), version("npm\n# Guide\n")]),
  ];
  for (const other of others) expect(shown(other, WHOLE)).toEqual([[other.id], ["whole"]]);
});

test("a program that saves an old text again and again leaves one conflict to be settled", async () => {
  const text = "# Guide\n\none\ntwo\n\n## Build\n\nthree\nfour\n";
  const [a, b] = await lab.pair(text);
  await a.save(text.replace("one\n", "one of a\n").replace("three\n", "three of a\n"));
  await exchange([a, b]);
  let stale = text;
  for (const more of ["first", "second", "third", "fourth"]) {
    stale = stale.replace("two\n", `two\n${more} of b\n`);
    await b.save(stale);
    await b.pass(2000);
    await exchange([a, b]);
  }
  for (const machine of [a, b]) {
    const content = await machine.doc();
    const open = (await machine.conflicts()).filter((record) => !isOver(record, content));
    expect(open.length).toBeGreaterThan(1);
    const [only, ...others] = withoutCovered(open, content);
    expect(others).toEqual([]);
    expect(only?.record.versions.map((each) => each.text)).toEqual([
      "one\nthree\n",
      "one of a\nthree of a\n",
    ]);
  }
});

test("two sections with the same bullets have a conflict each", async () => {
  const section = (name: string, bullet: string) => `## ${name}\n\n- see the docs\n${bullet}\n`;
  const guide = (one: string, two: string) =>
    `# T\n\n${section("Build", one)}${section("Test", two)}## End\n`;
  const [a, b] = await lab.pair(guide("- run it\n", "- run it\n"));
  await a.save(guide("- run it fast\n", "- run it fast\n"));
  await b.save(guide("- run it slow\n", "- run it slow\n- more of b\n"));
  await exchange([a, b]);
  const content = await a.doc();
  const open = (await a.conflicts()).filter((record) => !isOver(record, content));
  expect(open).toHaveLength(2);
  expect(withoutCovered(open, content)).toHaveLength(2);
});

test("a covered conflict is settled along only where nothing of what was not chosen is left", () => {
  const part = conflict("part", [version("yarn\n"), version("npm\n")]);
  const versions = WHOLE.versions.map((each) => ({ ...each, inText: true, inPart: false }));
  const shownConflict = { versions, covered: [part] } as unknown as TextConflict;
  const without = CONTENT.replace("npm\n", "");
  expect(settledWith(shownConflict, 0, without)).toEqual([part]);
  expect(settledWith(shownConflict, 0, CONTENT)).toEqual([]);
  expect(settledWith(shownConflict, 1, CONTENT.replace("yarn\n", ""))).toEqual([part]);
});
