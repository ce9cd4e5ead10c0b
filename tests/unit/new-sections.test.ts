import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const guide = (...sections: readonly string[]) => `# Guide\n\nTwo of us.\n\n${sections.join("")}`;
const NOTES = "## Notes\n\n- be kind\n- be quick\n\n";
const SETUP = "## Setup\n\nFirst this:\n\n- go on\n\n";
const MORE = "## More\n\n- of all\n- of us\n\n";
const END = "## End\n\n- is near\n";
const ANEW = "## Install\n\nRun:\n\n- all of it\n\n";
const TIGHT = "# G\n- a\n## Two\n- b\n";
const BASE = guide(NOTES, SETUP, END);

const lab = foldersOfEach();

/** What one changes, what the other writes, and what both have then. */
const BESIDE: Readonly<
  Record<string, readonly [base: string, changed: string, written: string, both: string]>
> = {
  "above one that was renamed": [
    BASE,
    BASE.replace("## Setup", "## Install"),
    guide(NOTES, MORE, SETUP, END),
    guide(NOTES, MORE, SETUP.replace("Setup", "Install"), END),
  ],
  "above one that was renamed and has no blank line before it": [
    TIGHT,
    TIGHT.replace("Two", "Second"),
    TIGHT.replace("## Two", "## New\n- n\n## Two"),
    "# G\n- a\n## New\n- n\n## Second\n- b\n",
  ],
  "above one that was written anew": [
    BASE,
    guide(NOTES, ANEW, END),
    guide(NOTES, MORE, SETUP, END),
    guide(NOTES, MORE, ANEW, END),
  ],
  "behind one whose last line was mended": [
    BASE,
    BASE.replace("is near", "is far"),
    `${BASE}\n${MORE.trimEnd()}\n`,
    `${BASE.replace("is near", "is far")}\n${MORE.trimEnd()}\n`,
  ],
};

for (const [where, [base, changed, written, both]] of Object.entries(BESIDE)) {
  for (const [by, texts] of [
    ["the machine that is heard first", [written, changed]],
    ["the machine that hears first", [changed, written]],
  ] as const) {
    test(`a section that ${by} writes ${where} stands there, and nothing is told`, async () => {
      const machines = await lab.savedApart(base, texts);
      await exchange(machines);
      for (const each of machines) {
        expect(each.file()).toBe(both);
        expect(await each.conflicts()).toEqual([]);
      }
    });
  }
}

test("a section written above a renamed one stands once where both put it in order at once", async () => {
  const [base, changed, written, both] = BESIDE["above one that was renamed"] ?? [];
  const [a, b] = await lab.savedApart(base as string, [changed as string, written as string]);
  const before = [await a.update(), await b.update()] as const;
  await a.load(before[1]);
  await b.load(before[0]);
  await exchange([a, b]);
  for (const each of [a, b]) expect(each.file()).toBe(both as string);
  expect(await a.conflicts()).toEqual([]);
});

/** What both change, and the two versions that are told. */
const RIVALS: Readonly<
  Record<
    string,
    readonly [base: string, texts: readonly [string, string], told: readonly [string, string]]
  >
> = {
  "of a section of each, where one has renamed the next": [
    BASE,
    [BASE.replace("## Setup", "## Mine\n\n- q\n\n## Install"), guide(NOTES, MORE, SETUP, END)],
    ["## Mine\n\n- q\n\n## Install\n", `${MORE}## Setup\n`],
  ],
  "of two names of one section, with a new one above it": [
    BASE,
    [BASE.replace("Setup", "Install"), guide(NOTES, MORE, SETUP.replace("Setup", "Set up"), END)],
    ["## Install\n", `${MORE}## Set up\n`],
  ],
  "of a mended line, and a line above it": [
    BASE,
    [BASE.replace("be quick", "be quicker"), BASE.replace("- be quick", "- be slow\n- be quick")],
    ["- be quicker\n", "- be slow\n- be quick\n"],
  ],
  "of comments in code, which look like headings": [
    guide("```sh\n# one\nrun\n```\n"),
    [guide("```sh\n# two\nrun\n```\n"), guide("```sh\n# zero\nzero\n# one\nrun\n```\n")],
    ["# two\n", "# zero\nzero\n# one\n"],
  ],
};

for (const [what, [base, texts, told]] of Object.entries(RIVALS)) {
  test(`a conflict tells ${what}`, async () => {
    const machines: readonly FollowedMachine[] = await lab.savedApart(base, texts);
    await exchange(machines);
    const conflicts = (await machines[0]?.conflicts()) ?? [];
    const both = conflicts.filter(({ kind }) => kind === "both");
    expect(both.map(({ versions }) => versions.map(({ text }) => text).sort())).toEqual([
      [...told].sort(),
    ]);
  });
}

test("two sections of one name, one of which takes the place of the next, are told", async () => {
  const deploy = (where: string) => `## Deploy\n\n- to ${where}\n\n`;
  const machines = await lab.savedApart(BASE, [
    guide(NOTES, deploy("staging"), END),
    guide(NOTES, deploy("production"), SETUP, END),
  ]);
  await exchange(machines);
  const told = (await machines[0].conflicts()).flatMap(({ versions }) => versions);
  const said = told.map(({ text }) => text).join("");
  for (const where of ["staging", "production"]) expect(said).toContain(`- to ${where}\n`);
});
