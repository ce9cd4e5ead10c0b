import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const ONE = "## One\n\n- a1\n- a2\n\n```sh\nmake\n```\n\n";
const END = "## End\n\n- c1\n";
const list = (count: number) => Array.from({ length: count }, (_, nth) => `- b${nth}\n`).join("");
const guide = (...sections: readonly string[]) => `# P\n\nIntro.\n\n${sections.join("")}${END}`;
const named = (name: string, section: string) => section.replace("## One", `## ${name}`);

/** What the section is moved over: a diff makes the smaller part the moved one. */
const OVER = {
  "a smaller one": `## Two\n\n${list(2)}\n`,
  "a larger one": `## Two\n\n${list(12)}\n`,
};

const lab = foldersOfEach();

for (const [what, over] of Object.entries(OVER)) {
  const renamed = guide(named("First", ONE), over);
  const moved = guide(over, named("Start", ONE));
  for (const first of ["who renamed it", "who moved it"]) {
    test(`two names of a section that was moved over ${what} are rivals, heard by ${first} first`, async () => {
      const texts = first === "who renamed it" ? [renamed, moved] : [moved, renamed];
      const machines = await lab.savedApart(guide(ONE, over), texts as [string, string]);
      await exchange(machines);
      for (const machine of machines) {
        const [conflict, ...more] = await machine.conflicts();
        expect(more).toEqual([]);
        const versions = conflict?.versions.map(({ text }) => text) ?? [];
        expect(versions.toSorted()).toEqual(["## First\n", "## Start\n"]);
        for (const version of versions) {
          const name = version.slice("## ".length, -1);
          const chosen = (await machine.choiceOf(version)).findLast(({ kind }) => kind === "text");
          expect(chosen).toMatchObject({ value: guide(over, named(name, ONE)) });
        }
      }
    });
  }
}

test("a name that nobody moved is told as it was, with no further conflict", async () => {
  const over = OVER["a smaller one"];
  const machines = await lab.savedApart(guide(ONE, over), [
    guide(named("First", ONE), over),
    guide(named("Start", ONE), over),
  ]);
  await exchange(machines);
  const found = (await machines[0].conflicts()).map((each) => each.versions.map((is) => is.text));
  expect(found.map((each) => each.toSorted())).toEqual([["## First\n", "## Start\n"]]);
});
