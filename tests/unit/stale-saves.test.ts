import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const section = (heading: string, count = 3) => {
  const facts = Array.from({ length: count }, (_, at) => `- ${heading}, fact ${at}\n`);
  return `## ${heading}\n\n${facts.join("")}\n`;
};
const guide = (...sections: readonly string[]) => `# Guide\n\n${sections.join("")}`;
const [ONE, TWO, THREE] = ["One", "Two", "Three"].map((name) => section(name)) as [
  string,
  string,
  string,
];
const BASE = guide(ONE, TWO, THREE);
const RENAMED = BASE.replace("## Two", "## Second");
const MENDED_LAST = BASE.replace("- One, fact 2", "- One, fact 2, mended");
const MENDED = BASE.replaceAll(/- One, fact \d/g, "$&, mended");
const NEW = section("New", 1);
const NEWER = section("Newer", 2);

const [FIRST, SECOND] = ["- One, fact 0\n", "- One, fact 1\n"];
const DELETED = BASE.replace(SECOND, "");
const SAID_MORE = "- One, fact 1, mended\n";
const MENDED_TWO = BASE.replace("- Two, fact 1", "- Two, fact 1, mended");
const MOVED = DELETED.replace("- Three, fact 1\n", `- Three, fact 1\n${SAID_MORE}`);
const SPLIT = BASE.replace(SECOND, "- One, fact\n- of all\n");
const JOINED = "- One, fact 0, and One, fact 1\n";

const lab = foldersOfEach();

/** What a text becomes by each choice, and the conflict's versions. */
type Choices = readonly (readonly [version: string, becomes: string])[];

/** What one machine saves, and the other from a buffer of before, within the minute. */
const STALE: Readonly<
  Record<string, readonly [saves: readonly [string, string], choices: Choices]>
> = {
  "a line that another machine deleted, and the save mends": [
    [DELETED, BASE.replace(SECOND, SAID_MORE)],
    [
      ["", DELETED],
      [SAID_MORE, BASE.replace(SECOND, SAID_MORE)],
    ],
  ],
  "a line that another machine deleted, and the save moves and mends": [
    [DELETED, MOVED],
    [
      ["", DELETED],
      [SAID_MORE, MOVED],
    ],
  ],
  "a line that another machine deleted, and the save splits": [
    [DELETED, SPLIT],
    [
      ["", DELETED.replace(FIRST, `${FIRST}- of all\n`)],
      ["- One, fact\n", SPLIT],
    ],
  ],
  "a line that another machine deleted, and the save joins to the one above": [
    [DELETED, DELETED.replace(FIRST, JOINED)],
    [
      [FIRST, DELETED],
      [JOINED, DELETED.replace(FIRST, JOINED)],
    ],
  ],
  "a section that another machine deleted, and of which the save mends a line": [
    [guide(ONE, THREE), MENDED_TWO],
    [
      ["", guide(ONE, THREE)],
      [TWO.trimEnd().replace("- Two, fact 1", "- Two, fact 1, mended").concat("\n"), MENDED_TWO],
    ],
  ],
  "a heading that another machine renamed, below a line that the save mends": [
    [RENAMED, MENDED_LAST],
    [
      ["## Second\n", MENDED_LAST.replace("## Two", "## Second")],
      ["## Two\n", MENDED_LAST],
    ],
  ],
  "a heading that another machine renamed, below lines that the save mends": [
    [RENAMED, MENDED],
    [
      ["## Second\n", MENDED.replace("## Two", "## Second")],
      ["## Two\n", MENDED],
    ],
  ],
  "two new sections of another machine, while the save changes the order of their neighbours": [
    [guide(NEWER, ONE, NEW, TWO, THREE), guide(TWO, ONE, THREE)],
    [
      ["", guide(TWO, ONE, THREE)],
      [`${NEWER.trimEnd()}\n${NEW.trimEnd()}\n`, guide(NEWER, NEW, TWO, ONE, THREE)],
    ],
  ],
};

for (const [what, [saves, choices]] of Object.entries(STALE)) {
  test(`each choice of a conflict gives what one side meant of ${what}`, async () => {
    const [a, b] = await lab.pair(BASE);
    await a.save(saves[0]);
    await exchange([a, b]);
    await b.save(saves[1]);
    await exchange([a, b]);
    const [conflict, ...more] = await a.conflicts();
    expect(more).toEqual([]);
    const said = conflict?.versions.map(({ text }) => withoutBlanks(text));
    expect(said?.sort()).toEqual(choices.map(([text]) => withoutBlanks(text)).sort());
    for (const { text } of conflict?.versions ?? []) {
      const [, becomes = ""] = choices.find(([each]) => isSame(each, text)) ?? [];
      expect(withoutBlanks(await chosenText(a, text))).toBe(withoutBlanks(becomes));
    }
  });
}

async function chosenText(machine: FollowedMachine, version: string): Promise<string> {
  const writes = await machine.choiceOf(version);
  const last = writes.findLast((write) => write.kind === "text");
  return last?.kind === "text" ? last.value : machine.file();
}

/** How many blank lines go with what is chosen is not judged here. */
function withoutBlanks(text: string): string {
  return text.replaceAll(/\n{2,}/g, "\n");
}

function isSame(one: string, other: string): boolean {
  return withoutBlanks(one) === withoutBlanks(other);
}

test("what was made of a line that stands is told to nobody, nor what others have mended", async () => {
  const mended = BASE.replace(SECOND, "- One, fact 1, which Ann has mended\n");
  for (const saved of [DELETED, mended]) {
    const [a, b] = await lab.pair(BASE);
    await a.save(saved);
    await exchange([a, b]);
    const more = "- Three, fact 1, too\n- something else\n";
    await b.save(saved.replace("- Three, fact 1\n", more));
    expect(await b.conflicts()).toEqual([]);
    await lab.end();
  }
});
