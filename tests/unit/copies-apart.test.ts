import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService, toldTexts } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

/** A guide with something under each of two headings. */
const having = (one: string, two: string, end = "") =>
  [`# Guide\n\n## One\n\none is here\n\n${one}`, `## Two\n\ntwo is here\n\n${two}`].join("") +
  `## Three\n\nthree\n${end}`;
const LINE = "tell them all about it\n";
const LIST = "- install node\n- clone the repository\n";
const BLOCK = "```sh\nnpm run build\nnpm run check\n```\n";
const SECTION = "## Setup\n\n- install node\n\n### Then\n\n- clone it\n";

const lab = foldersOfEach();

type Machines = readonly [FollowedMachine, FollowedMachine];
type Exchange = (machines: readonly FollowedMachine[]) => Promise<void>;

async function met(
  base: string,
  texts: readonly [string, string],
  by: Exchange,
): Promise<Machines> {
  const both = await lab.savedApart(base, texts);
  await by(both);
  return both;
}

for (const [how, by] of [
  ["which both merge", exchange],
  ["of which the second merges", exchangeOverService],
] as const)
  for (const [what, copy] of [
    ["a line", LINE],
    ["a list", LIST],
    ["a block", BLOCK],
    ["a section", SECTION],
  ] as const)
    test(`of ${what} that stands twice each deletes another copy, ${how}: either can be chosen`, async () => {
      const texts = [having("", `${copy}\n`), having(`${copy}\n`, "")] as const;
      for (const nth of [0, 1]) {
        const both = await met(having(`${copy}\n`, `${copy}\n`), texts, by);
        const [a, b] = both;
        expect([await a.doc(), await b.doc()]).toEqual([having("", ""), having("", "")]);
        expect(await toldTexts(both)).toEqual([[copy, copy]]);
        const [{ id, versions } = { id: "", versions: [] }] = await a.conflicts();
        const own = versions.findIndex(({ places: [place] }) => {
          return place?.behind.includes(nth === 0 ? "two" : "one");
        });
        await a.drain(await a.choiceOf(copy, id, own === 1));
        await exchange(both);
        expect([await a.doc(), await b.doc()]).toEqual([texts[nth] ?? "", texts[nth] ?? ""]);
        expect(await toldTexts(both)).toEqual([]);
      }
    });

for (const [what, base, ofA, ofB, text] of [
  [
    "leave one copy of three",
    having(LINE, LINE, LINE),
    having("", LINE, LINE),
    having(LINE, "", LINE),
    having("", "", LINE),
  ],
  [
    "delete the same copy",
    having(LINE, LINE),
    having("", LINE),
    having("", LINE),
    having("", LINE),
  ],
  ["delete all copies", having(LINE, LINE), having("", ""), having("", ""), having("", "")],
  [
    "delete one, and the other all",
    having(LINE, LINE),
    having("", ""),
    having("", LINE),
    having("", ""),
  ],
  [
    "delete one, and the other mends another",
    having(LINE, LINE),
    having("", LINE),
    having(LINE, "tell them nothing about it\n"),
    having("", "tell them nothing about it\n"),
  ],
  [
    "delete one, and the other moves one",
    having(LINE, LINE),
    having("", LINE),
    having(LINE, "", LINE),
    having("", "", LINE),
  ],
] as const)
  test(`who ${what} has left nothing out untold`, async () => {
    const both = await met(base, [ofA, ofB], exchange);
    expect(await both[0].doc()).toBe(text);
    expect(await toldTexts(both)).toEqual([]);
  });

test("who dismisses that both copies are gone wanted them gone", async () => {
  const texts = [having("", LINE), having(LINE, "")] as const;
  const both = await met(having(LINE, LINE), texts, exchangeOverService);
  const [conflict] = await both[0].conflicts();
  await both[0].dismiss(conflict?.id ?? "");
  await exchange(both);
  expect(await both[1].doc()).toBe(having("", ""));
  expect(await toldTexts(both)).toEqual([]);
});

test("what is gone in one place and in another is one question for each", async () => {
  const copies = [LINE, LIST].map((copy) => `${copy}\n`);
  const [line, list] = copies as [string, string];
  const texts = [having(list, line), having(line, list)] as const;
  const both = await met(having(line + list, line + list), texts, exchange);
  expect(await both[0].doc()).toBe(having("", ""));
  const all = await toldTexts(both);
  expect(all.length).toBe(2);
  expect(all).toContainEqual([LINE, LINE]);
  expect(all).toContainEqual([LIST, LIST]);
});

test("of sections that say the same under two names each deletes another: both are told whole", async () => {
  const [one, two] = [`## Setup\n\n${LIST}`, `## Installing\n\n${LIST}- restart it\n`];
  const texts = [having("", `${two}\n`), having(`${one}\n`, "")] as const;
  const both = await met(having(`${one}\n`, `${two}\n`), texts, exchangeOverService);
  expect(await toldTexts(both)).toEqual([[two, one]]);
});
