import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, toldTexts } from "../support/exchange-machines.ts";
import { LONG_MS } from "../support/followed-clones.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const RUN = "# Guide\n\n## Run\n\n- npm run build\n";
const OTHER = "- npm run ship\n\n## Other\n\nsome words here\n";
const having = (...lines: readonly string[]) => `${RUN}${lines.join("")}${OTHER}`;
const [ALL, ONE] = ["- npm run check --all\n", "- npm run check --one\n"];
const starred = (text: string) => text.replaceAll("- ", "* ");
const renamed = (text: string) => text.replaceAll("npm run", "bun run");

const lab = foldersOfEach();

type Machines = readonly [FollowedMachine, FollowedMachine];

/** Two that disagree about a line, for long, and of whom one edits the text then. */
async function edited(how: "savedStale" | "savedApart", text: string): Promise<Machines> {
  const both = await lab[how](having("- npm run check\n"), [having(ALL), having(ONE)]);
  await exchange(both);
  for (const each of both) await each.pass(LONG_MS);
  expect(await toldTexts(both)).toEqual([[ALL, ONE]]);
  await both[0].save(text);
  await exchange(both);
  return both;
}

for (const how of ["savedStale", "savedApart"] as const)
  for (const [what, mended] of [
    ["the mark of all lists", starred],
    ["a name all over the text", renamed],
  ] as const)
    test(`who mends ${what} has chosen none of two versions ${how}`, async () => {
      for (const chosen of [ALL, ONE].map(mended)) {
        const both = await edited(how, mended(having(ALL, ONE)));
        expect(await toldTexts(both)).toEqual([[ALL, ONE].map(mended)]);
        const [, b] = both;
        await b.drain(await b.choiceOf(chosen));
        await exchange(both);
        expect(await b.doc()).toBe(`${mended(RUN)}${chosen}${mended(OTHER)}`);
        expect(await toldTexts(both)).toEqual([]);
      }
    });

for (const [what, lines] of [
  ["puts one line in the place of both versions", ["- npm run check --all or --one\n"]],
  ["mends one version and deletes the other", ["* npm run check --all\n"]],
  ["writes two lines that may be of either", ["- npm run check this\n", "- npm run check that\n"]],
] as const)
  test(`who ${what} has chosen`, async () => {
    expect(await toldTexts(await edited("savedApart", having(...lines)))).toEqual([]);
  });
