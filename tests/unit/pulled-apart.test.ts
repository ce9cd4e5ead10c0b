import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { FILE, FollowedClones, MORE, type Pair, START } from "../support/followed-clones.ts";
import {
  exchange,
  exchangeOverService,
  type FollowedMachine,
} from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const MINUTE_MS = 60_000;
const LINE = "\nOne more.\n";
/** Several lines in one commit, and the same without one of them. */
const LINES = `${START}\nOne more.\nAnother.\nThe last.\n`;
const LESS = `${START}\nOne more.\nThe last.\n`;

let lab: FollowedClones;

beforeEach(() => {
  lab = new FollowedClones();
});

afterEach(() => lab.end());

/** While no service answers A commits a text, and B pulls it. */
async function pulledApart(text: string): Promise<Pair> {
  const pair = await lab.pair({ [FILE]: START });
  const { a, b } = pair;
  await a.acknowledge();
  await b.acknowledge();
  await lab.commit(a, text);
  await a.settle();
  await lab.run(a, "push", "-q");
  await lab.run(b, "pull", "-q");
  await b.settle();
  expect(await b.doc()).toBe(text);
  await b.pass(MINUTE_MS);
  await b.pass(MINUTE_MS);
  return pair;
}

/** Which of the two calls the service first once it is back. */
const FIRST = ["a", "b"] as const;

async function meet(pair: Pair, first: (typeof FIRST)[number]): Promise<void> {
  const { a, b } = pair;
  await exchangeOverService(first === "a" ? [a, b] : [b, a]);
  await exchange([a, b]);
}

async function told(at: FollowedMachine) {
  return (await at.conflicts()).map(({ kind, versions }) => [
    kind,
    ...versions.map(({ text }) => text),
  ]);
}

for (const first of FIRST) {
  test(`what one machine pulled and deleted is told, where ${first} calls first`, async () => {
    const pair = await pulledApart(MORE);
    const { a, b } = pair;
    await lab.commit(b, START);
    await b.settle();
    expect(await b.doc()).toBe(START);
    await meet(pair, first);
    expect([await a.doc(), await b.doc()]).toEqual([MORE, MORE]);
    const one = [["both", "", LINE]];
    expect([await told(a), await told(b)]).toEqual([one, one]);
    await lab.run(b, "push", "-q");
    await lab.run(a, "pull", "-q");
    await a.settle();
    await exchange([a, b]);
    expect(await told(b)).toEqual(one);
    await b.drain(await b.choiceOf(""));
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
    expect([await told(a), await told(b)]).toEqual([[], []]);
  });
}

for (const first of FIRST) {
  test(`of several pulled lines the deleted one is told, where ${first} calls first`, async () => {
    const pair = await pulledApart(LINES);
    const { a, b } = pair;
    await lab.commit(b, LESS);
    await b.settle();
    await meet(pair, first);
    expect([await a.doc(), await b.doc()]).toEqual([LINES, LINES]);
    const one = [["both", "", "Another.\n"]];
    expect([await told(a), await told(b)]).toEqual([one, one]);
  });
}

for (const first of FIRST) {
  test(`what one machine pulled and moved is there once, where ${first} calls first`, async () => {
    const pair = await pulledApart(LINES);
    const { a, b } = pair;
    await b.save(LESS);
    await b.save(`${LESS}Another.\n`);
    await meet(pair, first);
    expect(await a.doc()).toBe(await b.doc());
    expect((await a.doc()).split("\n").filter((line) => line === "Another.")).toHaveLength(1);
  });
}

for (const first of FIRST) {
  test(`what one machine pulled and nobody changed is there once, where ${first} calls first`, async () => {
    const pair = await pulledApart(LINES);
    const { a, b } = pair;
    await meet(pair, first);
    expect([await a.doc(), await told(a), await told(b)]).toEqual([LINES, [], []]);
  });
}
