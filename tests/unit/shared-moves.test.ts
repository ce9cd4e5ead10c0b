import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const BUILD = "## Build\n\nnpm run build\nmake all\nmake clean\nlint it\nfmt it\n\n";
const INTRO = "one\ntwo\nthree\n\n";
const TEST = "## Test\n\nnpm test\njest\n\n";
const DEPLOY = "## Deploy\n\n- deploy it\n- roll back\n- tell them all about it\n- end\n";
const guide = (...parts: readonly string[]) => `# Title\n\n${parts.join("")}`;
const BASE = guide(INTRO, BUILD, TEST, DEPLOY);
const TOP = guide(BUILD, INTRO, TEST, DEPLOY);
const DOWN = guide(INTRO, TEST, BUILD, DEPLOY);

const lab = foldersOfEach();

const MOVED = { "up and down": [TOP, DOWN] } as const;

for (const [how, texts] of Object.entries(MOVED))
  for (const [who, [ofA, ofB]] of [
    ["a", texts],
    ["b", [...texts].reverse()],
  ] as const)
    for (const first of ["a", "b"] as const)
      test(`both move the larger section ${how}, ${who} the former, and ${first} tells first: it is told`, async () => {
        const [a, b] = await lab.savedApart(BASE, [ofA ?? "", ofB ?? ""]);
        await exchangeOverService(first === "a" ? [a, b] : [b, a]);
        expect(texts as readonly string[]).toContain(await a.doc());
        for (const machine of [a, b]) {
          const told = (await machine.conflicts()).map(({ kind, versions }) => [
            kind,
            ...versions.map(({ text }) => text),
          ]);
          const section = `${BUILD.trimEnd()}\n`;
          expect(told).toEqual([["moved", section, section]]);
        }
      });

for (const [how, texts] of Object.entries(MOVED))
  test(`of a larger section that both move ${how} the other place can be chosen`, async () => {
    const [a, b] = await lab.savedApart(BASE, [texts[0], texts[1]]);
    await exchangeOverService([a, b]);
    const here = await b.doc();
    const [told] = await b.conflicts();
    const isLast = told?.versions[0].isStanding === true;
    await b.drain(await b.choiceOf(`${BUILD.trimEnd()}\n`, told?.id, isLast));
    await exchange([a, b]);
    const said = (text: string) => text.split("\n").filter((line) => line !== "");
    expect([here, await a.doc()].map(said).sort()).toEqual(texts.map(said).sort());
    expect(await a.listed()).toEqual([]);
  });

const FIRST = "## First\n\none\ntwo\n\n";
const HEADED = guide(FIRST, BUILD, TEST, DEPLOY);
const [ABOVE, BELOW] = [guide(BUILD, FIRST, TEST, DEPLOY), guide(FIRST, TEST, BUILD, DEPLOY)];

for (const [part, line] of [
  ["upper", "two\n"],
  ["lower", "jest\n"],
] as const)
  for (const first of ["a", "b"] as const)
    test(`both move the larger section, one also writes in the ${part} part past which it moved that, and ${first} tells first: it is told`, async () => {
      const mended = (text: string) => text.replace(line, `${line}and more\n`);
      const wanted = mended(part === "upper" ? ABOVE : BELOW);
      const texts = part === "upper" ? ([wanted, BELOW] as const) : ([ABOVE, wanted] as const);
      const [a, b] = await lab.savedApart(HEADED, texts);
      await exchangeOverService(first === "a" ? [a, b] : [b, a]);
      const section = `${BUILD.trimEnd()}\n`;
      for (const machine of [a, b]) {
        const told = (await machine.conflicts()).map(({ kind, versions }) => [
          kind,
          ...versions.map(({ text }) => text),
        ]);
        expect(told).toEqual([["moved", section, section]]);
        // Whoever wrote besides has the section where it was moved to.
        expect(await machine.doc()).toBe(wanted);
      }
    });

const LAST = `${DEPLOY}\n${BUILD.trimEnd()}\n`;

for (const [what, wanted] of [
  ["", guide(INTRO, TEST, BUILD, DEPLOY)],
  [", and writes in that", guide(INTRO, TEST.replace("jest\n", "jest\nand more\n"), BUILD, DEPLOY)],
] as const)
  for (const first of ["a", "b"] as const)
    test(`both move the larger section, one behind the last one, the other past a smaller one${what}, and ${first} tells first: it is told`, async () => {
      const [a, b] = await lab.savedApart(BASE, [wanted, guide(INTRO, TEST, LAST)]);
      await exchangeOverService(first === "a" ? [a, b] : [b, a]);
      const section = `${BUILD.trimEnd()}\n`;
      const all = wanted.replace(BUILD, "").replace(DEPLOY, LAST);
      for (const machine of [a, b]) {
        const told = (await machine.conflicts()).map(({ kind, versions }) => [
          kind,
          ...versions.map(({ text }) => text),
        ]);
        expect(told).toEqual([["moved", section, section]]);
        expect(await machine.doc()).toBe(all);
      }
      const [told] = await b.conflicts();
      await b.drain(await b.choiceOf(section, told?.id, told?.versions[0].isStanding === true));
      await exchange([a, b]);
      const said = (text: string) => text.split("\n").filter((line) => line !== "");
      expect(said(await a.doc())).toEqual(said(wanted));
      expect(await a.listed()).toEqual([]);
    });

test("where the larger section stands where both have it nothing is told of a move", async () => {
  // One has also deleted what the other moved it past besides.
  const [a, b] = await lab.savedApart(BASE, [guide(INTRO, TEST, BUILD), guide(INTRO, TEST, LAST)]);
  await exchangeOverService([a, b]);
  expect((await a.doc()).trimEnd()).toBe(guide(INTRO, TEST, BUILD).trimEnd());
  expect((await a.conflicts()).map(({ kind }) => kind)).not.toContain("moved");
});

for (const first of ["a", "b"] as const)
  test(`both move the larger section, and both write in the part past which they moved that, and ${first} tells first: it is told`, async () => {
    const [ofA, ofB] = [
      ABOVE.replace("two\n", "two\nof a\n"),
      BELOW.replace("jest\n", "jest\nof b\n"),
    ];
    const [a, b] = await lab.savedApart(HEADED, [ofA, ofB]);
    await exchangeOverService(first === "a" ? [a, b] : [b, a]);
    const section = `${BUILD.trimEnd()}\n`;
    const [here, there] = [
      ofA.replace("jest\n", "jest\nof b\n"),
      ofB.replace("two\n", "two\nof a\n"),
    ];
    expect([here, there]).toContain(await a.doc());
    const [told, ...more] = await b.conflicts();
    expect(more).toEqual([]);
    expect(told?.versions.map(({ text }) => text)).toEqual([section, section]);
    const other = (await a.doc()) === here ? there : here;
    await b.drain(await b.choiceOf(section, told?.id, told?.versions[0].isStanding === true));
    await exchange([a, b]);
    const said = (text: string) => text.split("\n").filter((line) => line !== "");
    expect(said(await a.doc())).toEqual(said(other));
    expect(await a.listed()).toEqual([]);
  });

const items = (...lines: readonly string[]) =>
  guide("## List\n\n", ...lines.map((line) => `- ${line}\n`), "\n", DEPLOY);
const MANY = ["big one word", "big two words", "big three words"];

test("both move a larger part of a list, and both write beside the smaller one: either order can be chosen", async () => {
  const [top, low] = ["top item here", "low item there"];
  const ofA = items(...MANY, top, "by a as well", low);
  const ofB = items(top, "by b besides", low, ...MANY);
  for (const wanted of [top, low]) {
    const [a, b] = await lab.savedApart(items(top, ...MANY, low), [ofA, ofB]);
    await exchangeOverService([a, b]);
    const told = await b.conflicts();
    const texts = told.map(({ kind, versions }) => [kind, ...versions.map(({ text }) => text)]);
    const all = [top, low].map((line) => ["moved", `- ${line}\n`, `- ${line}\n`]);
    expect(texts.sort()).toEqual(all.sort());
    const one = told.find(({ versions }) => versions[0].text === `- ${wanted}\n`);
    const isLast = one?.versions[0].isStanding === true;
    await b.drain(await b.choiceOf(`- ${wanted}\n`, one?.id, isLast));
    await exchange([a, b]);
    const order = (await a.doc()).split("\n").filter((line) => / (top|low|big)/.test(line));
    const lines = (wanted === top ? [top, low, ...MANY] : [...MANY, top, low]).map(
      (each) => `- ${each}`,
    );
    expect(order).toEqual(lines);
  }
});

test("two machines that hear of each other at once put the same part back", async () => {
  const [a, b] = await lab.savedApart(BASE, [TOP, DOWN]);
  const [ofA, ofB] = [await a.update(), await b.update()];
  await a.load(ofB);
  await b.load(ofA);
  await exchange([a, b]);
  expect([TOP, DOWN]).toContain(await a.doc());
  expect((await a.conflicts()).map(({ kind }) => kind)).toEqual(["moved"]);
});

test("sections that were moved past each other and past nothing else are told of as before", async () => {
  const [a, b] = await lab.savedApart(BASE, [
    TOP,
    guide(INTRO, BUILD, DEPLOY, "\n", `${TEST.trimEnd()}\n`),
  ]);
  await exchangeOverService([a, b]);
  expect(await a.doc()).toBe(guide(BUILD, INTRO, DEPLOY, "\n", `${TEST.trimEnd()}\n`));
  expect(await a.conflicts()).toEqual([]);
});
