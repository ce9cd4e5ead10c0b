import { expect, setDefaultTimeout, test } from "bun:test";
import { placedVersions, type TextConflict } from "../../cli/local/local-conflicts.ts";
import { settle } from "../../cli/writes/settle-conflict.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import type { TextConflictRecord } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { findStrayedLines } from "../../shared/replica/merge/strayed-lines.ts";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const guide = (...sections: readonly string[]) => `# Guide\n\nTwo of us.\n\n${sections.join("")}`;
const BUILD = "## Build\n\n- see the docs\n- run it\n\n";
const TEST = BUILD.replace("Build", "Test");
const SETUP = "## Setup\n\nFirst this:\n\n```sh\nnpm ci\nnpm start\n```\n\n";
const INSTALL = SETUP.replace("Setup", "Install");
const NOTES = "## Notes\n\n- be kind\n- be quick\n\n";
const MORE = "## More\n\n- of all\n\n";
const END = "## End\n\n- is near\n";

const lab = foldersOfEach();

async function movedOf(machine: FollowedMachine): Promise<TextConflictRecord[]> {
  return (await machine.conflicts()).filter(({ kind }) => kind === "moved");
}

/** The text once the lines of a conflict stand where they stood on one machine. */
function chosen(record: TextConflictRecord, content: string): string {
  const other = record.versions.findIndex(({ isStanding }) => !isStanding);
  return settle(shownAs(record, content), other).content;
}

function shownAs(record: TextConflictRecord, content: string): TextConflict {
  const versions = placedVersions(record, content);
  const conflict = { kind: "text", id: record.id, record, versions, content };
  return conflict as unknown as TextConflict;
}

/** Which blank lines come with a section is not known. */
function saidIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

const SWAPPED = guide(BUILD, TEST, END);
const AMONG = guide(NOTES, SETUP, MORE, END);

const [FIRST, SECOND] = ["First", "Second"].map((name) => {
  return `## ${name}\n\n- one of ${name}\n- two of ${name}\n- three of ${name}\n\n`;
}) as [string, string];
const MOVED = "- one of First\n";

const STRAYED: readonly (readonly [
  what: string,
  base: string,
  texts: readonly [string, string],
  chosen: string,
])[] = [
  [
    "a line of one of two sections that say the same, and that another machine put in another order",
    SWAPPED,
    [guide(TEST, BUILD, END), SWAPPED.replace("- run it\n", "- run it fast\n")],
    guide(
      TEST.replace("- run it\n", ""),
      BUILD.replace("- see the docs\n", "- see the docs\n- run it fast\n"),
      END,
    ),
  ],
  [
    "a section that was put before one to which another machine has given a name and a place",
    AMONG,
    [guide(INSTALL, NOTES, MORE, END), guide(NOTES, MORE, SETUP, END)],
    guide(INSTALL, MORE, NOTES, END),
  ],
  [
    "a line that one moved to another section, and that came back as the other moved the section",
    guide(FIRST, SECOND, END),
    [
      guide(SECOND, FIRST, END),
      guide(
        FIRST.replace(MOVED, ""),
        SECOND.replace("of Second\n\n", `of Second\n${MOVED}\n`),
        END,
      ),
    ],
    guide(SECOND.replace("of Second\n\n", `of Second\n${MOVED}\n`), FIRST.replace(MOVED, ""), END),
  ],
];

for (const [what, base, texts, settled] of STRAYED) {
  for (const first of [0, 1] as const) {
    test(`${what} is told wherever it comes to stand, heard by ${first} first`, async () => {
      const machines = await lab.savedApart(base, texts);
      await machines[first].receive(machines[1 - first] as FollowedMachine);
      await exchange(machines);
      const text = await machines[0].doc();
      const [conflict, ...more] = await movedOf(machines[0]);
      expect(more).toEqual([]);
      if (!conflict) throw new Error(`nothing is told of\n${text}`);
      expect(saidIn(chosen(conflict, text))).toEqual(saidIn(settled));
    });
  }
}

test("a line that is gone from the wrong one of two sections that say the same is told", async () => {
  const deleted = SWAPPED.replace("- run it\n", "");
  const machines = await lab.savedApart(SWAPPED, [guide(TEST, BUILD, END), deleted]);
  await exchange(machines);
  const text = await machines[0].doc();
  const told = (await machines[0].conflicts()).filter(({ kind }) => kind === "both");
  const [record, ...more] = told.filter((each) => !isOver(each, text));
  expect(more).toEqual([]);
  if (!record) throw new Error(`nothing is told of\n${text}`);
  expect(record.versions.map((each) => each.text)).toEqual(["", "- run it\n"]);
  const whole = settle(shownAs(record, text), 1).content;
  expect(saidIn(whole)).toEqual(saidIn(guide(TEST, BUILD, END)));
});

test("a line that was added to a section which another machine deleted is told where that moved, too", async () => {
  const sections = ["S0", "S1", "S2", "S3"].map((name) => `## ${name}\n\n- of ${name}\n\n`);
  const [s0 = "", s1 = "", s2 = "", s3 = ""] = sections;
  const base = guide(s0, s1, s2, s3);
  for (const saved of [
    [guide(s1, s0, `${s2.trimEnd()}\n- added\n\n`, s3), guide(s0, s1, s3), s2],
    [guide(s0, s2, s1, `${s3.trimEnd()}\n- added\n\n`), guide(s0, s1, s2), s3],
  ] as const) {
    const [section, ...texts] = [saved[2], saved[0], saved[1]] as const;
    const machines = await lab.savedApart(base, texts);
    await exchange(machines);
    const text = await machines[0].doc();
    const told = (await machines[0].conflicts()).filter((each) => !isOver(each, text));
    expect(told.map(({ versions }) => versions.map((each) => each.text))).toContainEqual([
      "",
      `${section.trimEnd()}\n- added\n`,
    ]);
    await lab.end();
  }
});

const LISTS = guide(NOTES, END);
const CALM = LISTS.replace("- be quick\n", "- be quick\n- be calm\n");
const NEW = LISTS.replace("- be quick\n", "- be quick\n\n## New\n\n- one of it\n");

test("a line that stands behind another machine's new section is told, and moves before it", () => {
  const merged = NEW.replace("- one of it\n", "- one of it\n- be calm\n");
  const found = findStrayedLines(linesOf({ merged, mine: CALM, theirs: NEW }));
  const at = merged.split("\n").indexOf("- be calm");
  const place = merged.split("\n").indexOf("- be quick") + 1;
  const former = { before: place, beside: place - 1, by: "mine" } as const;
  expect(found).toEqual([{ run: [at, at + 1], place: former }]);
});

test("a code block that strays does so with its fences", () => {
  const merged = guide(INSTALL.replace("First this:", "First this:\n\n## More\n\n- of all"));
  const found = findStrayedLines(
    linesOf({ merged, mine: guide(INSTALL), theirs: guide(MORE, SETUP) }),
  );
  const lines = merged.split("\n");
  expect(found.map(({ run }) => lines.slice(...run))).toEqual([
    ["```sh", "npm ci", "npm start", "```"],
  ]);
});

const renamed = LISTS.replace("## Notes", "## Remarks");
const split = LISTS.replace("- be quick\n", "\n## Pace\n\n- be quick\n");

/** What both had, and a merge that puts every line where one of them may have meant it. */
const MEANT: Readonly<Record<string, readonly [mine: string, theirs: string, merged: string]>> = {
  "of a section that the other side has renamed": [
    CALM,
    renamed,
    CALM.replace("## Notes", "## Remarks"),
  ],
  "of a section that the other side has split": [
    CALM,
    split,
    split.replace("- be quick\n", "- be quick\n- be calm\n"),
  ],
  "of a section that the other side has joined with another": [
    guide(NOTES, MORE.replace("- of all\n", "- of all\n- of us\n")),
    guide(NOTES.trimEnd(), "\n- of all\n"),
    guide(NOTES.trimEnd(), "\n- of all\n- of us\n"),
  ],
  "of a section which the other side has written anew": [
    CALM,
    guide("## Other\n\n- new\n\n", END),
    guide("## Other\n\n- new\n- be calm\n\n", END),
  ],
  "that look like headings in a block of code": [
    guide(SETUP.replace("npm ci\n", "# as in CI\nnpm ci\n")),
    guide(SETUP.replace("npm start\n", "npm start\nnpm test\n")),
    guide(
      SETUP.replace("npm ci\n", "# as in CI\nnpm ci\n").replace(
        "npm start\n",
        "npm start\nnpm test\n",
      ),
    ),
  ],
};

for (const [what, [mine, theirs, merged]] of Object.entries(MEANT)) {
  test(`nothing is told of lines ${what}`, () => {
    expect(findStrayedLines(linesOf({ merged, mine, theirs }))).toEqual([]);
    expect(findStrayedLines(linesOf({ merged, mine: theirs, theirs: mine }))).toEqual([]);
  });
}

function linesOf(texts: Readonly<Record<"merged" | "mine" | "theirs", string>>) {
  const [merged = [], mine = [], theirs = []] = [texts.merged, texts.mine, texts.theirs].map(
    (text) => text.split("\n"),
  );
  return { merged, mine, theirs };
}
