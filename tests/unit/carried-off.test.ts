import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService, toldBy } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const LINE = "- use fresh make here\n";
const MENDED = "- use FRESH make here, says A\n";
const UNLIKE = "- use fresh make there, says B\n";
const TEST = "## Test\n\nnpm test\njest\n";
const BUILD = "## Build\n\nnpm run build\nmake all\n\n";
const TOP = "# Title\n\none\ntwo\nthree\n";
const guide = (line: string, end = "") => `${TOP}${line}\n${BUILD}${TEST}${end}`;
const inBuild = (line: string) => guide("").replace("make all\n", `make all\n${line}`);

const lab = foldersOfEach();

/** Two machines that both have the line: for long, or since it came into the file of the second. */
async function having(age: "old" | "fresh") {
  if (age === "old") return await lab.pair(guide(LINE));
  const [a, b] = await lab.pair(guide(""));
  await a.save(guide(LINE));
  await exchangeOverService([a, b, a]);
  for (const each of [a, b]) await each.acknowledge();
  await b.pass(4000);
  return [a, b] as const;
}

const PLACES = {
  "to the end and mends": [MENDED, guide("", MENDED)],
  "to another section and mends": [MENDED, inBuild(MENDED)],
  "to the end": [LINE, guide("", LINE)],
} as const;

for (const age of ["old", "fresh"] as const)
  for (const [where, [line, text]] of Object.entries(PLACES))
    for (const mover of ["a", "b"] as const)
      for (const first of ["a", "b"] as const)
        test(`of a line that is ${age} and that ${mover} moves ${where} the deletion is told, ${first} first`, async () => {
          const [a, b] = await having(age);
          await a.save(mover === "a" ? text : guide(""));
          await b.save(mover === "b" ? text : guide(""));
          await exchangeOverService(first === "a" ? [a, b] : [b, a]);
          expect(await toldBy([a, b])).toEqual([["", line]]);
          expect(await a.doc()).toBe(text);
          expect(await b.doc()).toBe(text);
        });

test("a conflict goes on where the other side, which has heard of it, moves and mends that line", async () => {
  const [a, b] = await having("fresh");
  await b.save(guide(""));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([["", LINE]]);
  await a.save(guide("", MENDED));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([["", MENDED]]);
  await b.drain(await b.choiceOf(""));
  await exchange([a, b]);
  expect(await a.doc()).toBe(guide(""));
  expect(await toldBy([a, b])).toEqual([]);
});

test("a conflict goes on where the other side, which has heard of it, moves that line", async () => {
  const [a, b] = await having("fresh");
  await b.save(guide(""));
  await exchange([a, b]);
  await a.save(guide("", LINE));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([["", LINE]]);
});

const FORMER = "## Deploy\n\n- deploy it now\n- roll it back\n- tell all of them\n\n";
const OTHERS: Readonly<Record<string, string>> = {
  "the heading": FORMER.replace("## Deploy", "## Deploy it"),
  "the first line": FORMER.replace("deploy it now", "deploy it later"),
  "the last line": FORMER.replace("tell all of them", "tell none of them"),
  "each line": FORMER.replaceAll(/^- .*$/gm, "$&, says A"),
};

for (const [what, mended] of Object.entries(OTHERS))
  for (const mover of ["a", "b"] as const)
    test(`of a section that ${mover} moves, mending ${what}, the other's deletion is told`, async () => {
      const [a, b] = await lab.pair(`${TOP}\n${FORMER}${BUILD}${TEST}`);
      const moved = `${TOP}\n${BUILD}${TEST}\n${mended.trimEnd()}\n`;
      await a.save(mover === "a" ? moved : guide(""));
      await b.save(mover === "b" ? moved : guide(""));
      await exchange([a, b]);
      expect(await a.doc()).toBe(moved);
      expect(await toldBy([a, b])).toEqual([["", `${mended.trimEnd()}\n`]]);
    });

test("what both move and mend, and not alike, is one conflict", async () => {
  const [a, b] = await having("old");
  await a.save(guide("", MENDED));
  await b.save(inBuild(UNLIKE));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([[MENDED, UNLIKE]]);
  const [both, ofB] = [`${inBuild(UNLIKE)}${MENDED}`, inBuild(UNLIKE)];
  expect(await a.doc()).toBe(both);
  await b.drain(await b.choiceOf(UNLIKE));
  await exchange([a, b]);
  expect(await a.doc()).toBe(ofB);
  expect(await toldBy([a, b])).toEqual([]);
});

test("a line that one mends where it stands, and the other moves, is one conflict", async () => {
  const [a, b] = await having("old");
  await a.save(guide(MENDED));
  await b.save(guide("", LINE));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([[MENDED, LINE]]);
});

const QUIET: Readonly<Record<string, readonly [ofA: string, ofB: string]>> = {
  "one moves and mends a line that the other keeps": [guide("", MENDED), guide(LINE, "- end\n")],
  "both delete a line, and one writes another one elsewhere": [
    guide("", "- call nobody else at night\n"),
    guide(""),
  ],
  "both move and mend a line alike": [guide("", MENDED), guide("", MENDED)],
  "one deletes a line, and the other adds one that is alike": [guide(""), guide(LINE, MENDED)],
};

for (const [what, [ofA, ofB]] of Object.entries(QUIET)) {
  test(`nothing is told where ${what}`, async () => {
    const [a, b] = await having("old");
    await a.save(ofA);
    await b.save(ofB);
    await exchange([a, b]);
    expect(await toldBy([a, b])).toEqual([]);
  });
}
