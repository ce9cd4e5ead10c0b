import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, type Pair, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const MINUTE_MS = 60_000;
const LINES = `${START}\nOne more.\nAnother.\nThe last.\n`;
const without = (line: string) => LINES.replace(line, "");
const mended = (by: string) => LINES.replace("Another.", `Another, by ${by}.`);

const lab = clonesOfEach();

/** While no service answers A commits the lines, B pulls them, and each saves something. */
async function savedApart(ofA: string, ofB: string): Promise<Pair> {
  const pair = await lab.pair({ [FILE]: START });
  const { a, b } = pair;
  await a.acknowledge();
  await b.acknowledge();
  await lab.commit(a, LINES);
  await a.settle();
  await lab.run(a, "push", "-q");
  await lab.run(b, "pull", "-q");
  await b.settle();
  expect(await b.doc()).toBe(LINES);
  await b.pass(MINUTE_MS);
  await b.pass(MINUTE_MS);
  await a.save(ofA);
  await b.save(ofB);
  return pair;
}

async function told(at: FollowedMachine) {
  return (await at.conflicts()).map(({ kind, versions }) => [
    kind,
    ...versions.map(({ text }) => text),
  ]);
}

for (const first of ["a", "b"] as const) {
  /** The one who calls first after both have saved, and then everybody until all have all. */
  const meet = async (pair: Pair) => {
    const { a, b } = pair;
    await exchangeOverService(first === "a" ? [a, b] : [b, a]);
    await exchange([a, b]);
  };

  for (const deleter of ["a", "b"] as const) {
    test(`what ${deleter} deleted and the other mended is told, where ${first} calls first`, async () => {
      const gone = without("Another.\n");
      const [ofA, ofB] = deleter === "a" ? [gone, mended("b")] : [mended("a"), gone];
      const text = deleter === "a" ? ofB : ofA;
      const pair = await savedApart(ofA, ofB);
      const { a, b } = pair;
      await meet(pair);
      expect([await a.doc(), await b.doc()]).toEqual([text, text]);
      const one = [["both", "", `Another, by ${deleter === "a" ? "b" : "a"}.\n`]];
      expect([await told(a), await told(b)]).toEqual([one, one]);
      const { versions } = (await a.conflicts())[0] ?? {};
      const names = versions?.map(({ machine }) => machine);
      expect(names).toEqual(deleter === "a" ? ["a", "b"] : ["b", "a"]);
      await b.drain(await b.choiceOf(""));
      await exchange([a, b]);
      expect([await a.doc(), await b.doc()]).toEqual([gone, gone]);
      expect([await told(a), await told(b)]).toEqual([[], []]);
    });
  }

  test(`what both mended is told once, where ${first} calls first`, async () => {
    const pair = await savedApart(mended("a"), mended("b"));
    await meet(pair);
    const one = [["both", "Another, by a.\n", "Another, by b.\n"]];
    expect([await told(pair.a), await told(pair.b)]).toEqual([one, one]);
  });

  for (const [what, ofA, ofB] of [
    ["what both mended alike", mended("both"), mended("both")],
    ["what both deleted", without("Another.\n"), without("Another.\n")],
    [
      "what one wrote beside a line that both had before",
      without("Test with make test.\n\n"),
      LINES.replace("make test.\n", "make test.\nThen rest.\n"),
    ],
  ] as const) {
    test(`${what} is not told, where ${first} calls first`, async () => {
      const pair = await savedApart(ofA, ofB);
      await meet(pair);
      expect([await told(pair.a), await told(pair.b)]).toEqual([[], []]);
    });
  }
}
