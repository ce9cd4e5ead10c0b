import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { FollowedFolders } from "../support/followed-folders.ts";
import { exchange, type FollowedMachine } from "../support/followed-machines.ts";

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

let lab: FollowedFolders;

beforeEach(() => {
  lab = new FollowedFolders();
});

afterEach(() => lab.end());

/** What a text becomes by each choice, and the conflict's versions. */
type Choices = readonly (readonly [version: string, becomes: string])[];

/** What one machine saves, and the other from a buffer of before, within the minute. */
const STALE: Readonly<
  Record<string, readonly [saves: readonly [string, string], choices: Choices]>
> = {
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
