import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService, toldBy } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import { foldersOfEach } from "../support/followed-folders.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const RULES = "# Rules\n\none\ntwo\nthree\n";
const END = "\n## Build\n\nnpm run build\nmake all\n";
const FRESH = "- use fresh make here\n";
const BY_A = "- use fresh make here, says A\n";
const BY_B = "- use fresh make here, says B\n";
const GUIDE = `${RULES}${END}`;
const having = (...lines: readonly string[]) => `${RULES}${lines.join("")}${END}`;

const lab = foldersOfEach();
const clones = clonesOfEach();

/** Two machines that both have the line: it came into the file of the second a moment ago. */
async function startFresh() {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(having(FRESH));
  await exchangeOverService([a, b, a]);
  for (const each of [a, b]) await each.acknowledge();
  await b.pass(4000);
  return { a, b };
}

/** What the two make of the line, the second less than a minute after it came: what is told. */
const APART: Record<string, readonly [ofA: string, ofB: string, text: string, told: string[][]]> = {
  "is mended, and was deleted": [BY_A, "", BY_A, [["", BY_A]]],
  "is deleted, and was mended": ["", BY_B, BY_B, [["", BY_B]]],
  "is mended, and was mended unlike": [BY_A, BY_B, `${BY_A}${BY_B}`, [[BY_A, BY_B]]],
  "is mended, and was mended alike": [BY_A, BY_A, BY_A, []],
  "is deleted, and was deleted": ["", "", "", []],
};

for (const [what, [ofA, ofB, text, told]] of Object.entries(APART)) {
  for (const first of ["a", "b"] as const) {
    test(`of a line in its first minute it is told that it ${what} apart, ${first} first`, async () => {
      const { a, b } = await startFresh();
      await b.save(having(ofB));
      await a.save(having(ofA));
      const order = first === "a" ? [a, b] : [b, a];
      await exchangeOverService(order);
      expect(await toldBy([a, b])).toEqual(told);
      expect((await a.doc()).split("\n").sort()).toEqual(having(text).split("\n").sort());
    });
  }
}

test("a conflict goes on where the other side, which has heard of it, mends that line", async () => {
  const { a, b } = await startFresh();
  await b.save(GUIDE);
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([["", FRESH]]);
  await a.save(having(BY_A));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([["", BY_A]]);
  const [told] = await a.conflicts();
  expect(told?.versions.map(({ machine }) => machine)).toEqual(["b", "a"]);
  expect(await a.conflicts()).toHaveLength(1);
});

test("a conflict goes on where one of two versions is mended, until one of them is gone", async () => {
  const { a, b } = await startFresh();
  await b.save(having(BY_B));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([[FRESH, BY_B]]);
  await a.save((await a.doc()).replace(FRESH, BY_A));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([[BY_A, BY_B]]);
  await a.pass(70_000);
  await a.save((await a.doc()).replace(BY_B, ""));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([]);
});

test("a conflict goes on with what a command puts in the place of that line", async () => {
  const { a, b } = await startFresh();
  await b.save(GUIDE);
  await exchange([a, b]);
  await a.setDoc(having(BY_A));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([["", BY_A]]);
});

test("a conflict is over where both versions are mended into one line", async () => {
  const { a, b } = await startFresh();
  await b.save(having(BY_B));
  await exchange([a, b]);
  await a.pass(70_000);
  await a.save(having("- use fresh make here, say A and B\n"));
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([]);
});

for (const saves of [[""], [BY_A, ""]] as const)
  test(`a conflict of what two made of a line is over where both versions go in ${saves.length} saves`, async () => {
    const [a, b] = await lab.savedApart(having(FRESH), [having(BY_A), having(BY_B)]);
    await exchange([a, b]);
    for (const each of [a, b]) await each.pass(70_000);
    expect(await toldBy([a, b])).toEqual([[BY_A, BY_B]]);
    for (const left of saves) {
      await a.save(having(left));
      await a.pass(70_000);
    }
    await exchange([a, b]);
    expect(await a.doc()).toBe(GUIDE);
    expect(await toldBy([a, b])).toEqual([]);
  });

test("a conflict is over where whoever deleted that line mends it", async () => {
  const { a, b } = await startFresh();
  b.put(GUIDE);
  await b.settle();
  await exchange([a, b]);
  await b.pass(70_000);
  b.put(having(BY_B));
  await b.settle();
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([]);
});

for (const [version, text] of [
  ["the mended line", having(BY_A)],
  ["its deletion", GUIDE],
] as const) {
  test(`a conflict is settled for good by choosing ${version}, apart from a lost answer`, async () => {
    const { a, b } = await startFresh();
    await b.save(GUIDE);
    await a.save(having(BY_A));
    await b.receive(a);
    await b.drain(await b.choiceOf(version === "its deletion" ? "" : BY_A));
    await exchange([a, b]);
    expect(await toldBy([a, b])).toEqual([]);
    expect(await a.doc()).toBe(text);
  });
}

test("a conflict that was dismissed is not told again by the machine that mended the line", async () => {
  const { a, b } = await startFresh();
  await b.save(GUIDE);
  const [told] = await b.conflicts();
  await b.dismiss(told?.id ?? "");
  await a.save(having(BY_A));
  await exchangeOverService([b, a]);
  expect((await toldBy([a, b])).filter(([one]) => one === "")).toEqual([]);
});

const SECTION = "\n## Fresh\n\n- alpha\n- beta\n";
const OF_A = "\n## Fresh\n\n- alpha, says A\n- beta, says A\n";

test("a conflict goes on where every line of a section is mended that another wanted gone", async () => {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(`${GUIDE}${SECTION}`);
  await exchange([a, b]);
  await b.pass(4000);
  await b.save(GUIDE);
  await a.save(`${GUIDE}${OF_A.replace("## Fresh", "## Fresh, says A")}`);
  await exchangeOverService([a, b]);
  const [told, ...more] = await toldBy([a, b]);
  expect(more).toEqual([]);
  expect(told?.[0]).toBe("");
  expect(told?.[1]).toContain("## Fresh, says A\n\n- alpha, says A\n- beta, says A\n");
});

test("a conflict goes on with what a third machine mends of a kept line", async () => {
  const [a, b, c] = await lab.machines(["a", "b", "c"], having(FRESH));
  if (!a || !b || !c) throw new Error("there are three machines");
  await a.save(having(BY_A));
  await b.save(GUIDE);
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([["", BY_A]]);
  await c.receive(a);
  await c.pass(70_000);
  await c.save(having("- use fresh make here, says C\n"));
  await exchange([a, b, c]);
  expect(await toldBy([a, b, c])).toEqual([["", "- use fresh make here, says C\n"]]);
});

test("a conflict goes on where a line that stands twice is mended at one place", async () => {
  const [a, b] = await lab.pair(having(FRESH));
  await a.save(`${FRESH}${GUIDE}`);
  await b.save(`${GUIDE}${FRESH}`);
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([[FRESH, FRESH]]);
  await b.pass(70_000);
  await b.save(`${FRESH}${GUIDE}${BY_B}`);
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([[FRESH, BY_B]]);
});

test("a conflict goes on where a line that was moved in doubt is mended", async () => {
  const [a, b] = await lab.pair(having(FRESH));
  await a.save(`${FRESH}${GUIDE}`);
  await exchange([a, b]);
  await b.pass(4000);
  await b.save(having(FRESH));
  const told = await b.conflicts();
  expect(told.map(({ kind }) => kind)).toEqual(["moved"]);
  await exchange([a, b]);
  await a.save(`${BY_A}${GUIDE}`);
  await exchange([a, b]);
  expect(await toldBy([a, b])).toEqual([[FRESH, BY_A]]);
});

/** What is chosen of what goes on, and the text that is left. */
const CHOSEN: readonly (readonly [of: string, version: string, text: string])[] = [
  ["its mended line", BY_A, having(BY_A)],
  ["the line beside it", BY_B, having(BY_B)],
];

for (const [what, version, text] of CHOSEN) {
  test(`a conflict is settled by one choice of ${what} once it goes on`, async () => {
    const { a, b } = await startFresh();
    await b.save(having(BY_B));
    await exchange([a, b]);
    await a.save((await a.doc()).replace(FRESH, BY_A));
    await exchange([a, b]);
    await b.drain(await b.choiceOf(version));
    await exchange([a, b]);
    expect(await a.doc()).toBe(text);
    expect(await toldBy([a, b])).toEqual([]);
  });
}

test("a conflict is settled by one choice of the place where a mended line stood before", async () => {
  const [a, b] = await lab.pair(having(FRESH));
  await a.save(`${FRESH}${GUIDE}`);
  await exchange([a, b]);
  await b.pass(4000);
  await b.save(having(FRESH));
  await exchange([a, b]);
  await a.save(`${BY_A}${GUIDE}`);
  await exchange([a, b]);
  await b.drain(await b.choiceOf(FRESH));
  await exchange([a, b]);
  expect(await a.doc()).toBe(having(FRESH));
  expect(await toldBy([a, b])).toEqual([]);
});

/** The file of the second is as committed again, without the line of the first. */
async function startDiscarded() {
  const { a, b } = await clones.pair({ [FILE]: GUIDE });
  for (const each of [a, b]) await each.follow({ write: true });
  await a.save(having(FRESH));
  await exchangeOverService([a, b, a]);
  for (const each of [a, b]) await each.acknowledge();
  await b.pass(70_000);
  await clones.run(b, "checkout", "--", FILE);
  await b.settle();
  expect((await b.conflicts()).map(({ kind }) => kind)).toEqual(["set-aside"]);
  return { a, b };
}

test("a conflict goes on where another machine mends what git took out, and has not heard of it", async () => {
  const { a, b } = await startDiscarded();
  await a.save(having(BY_A));
  await exchangeOverService([b, a]);
  expect(await toldBy([a, b])).toEqual([["", BY_A]]);
});

test("a conflict goes on where another machine mends what git took out, and has heard of it", async () => {
  const { a, b } = await startDiscarded();
  await exchangeOverService([a, b]);
  await a.save(having(BY_A));
  await exchangeOverService([a, b]);
  expect(await toldBy([a, b])).toEqual([["", BY_A]]);
});

for (const first of ["a", "b"] as const) {
  test(`a line that one joins to another is a version beside that other alone, ${first} first`, async () => {
    const { a, b } = await startFresh();
    await b.save(GUIDE);
    await a.save(GUIDE.replace("three\n", `three ${FRESH}`));
    await exchangeOverService(first === "a" ? [a, b] : [b, a]);
    expect(await toldBy([a, b])).toEqual([["three\n", `three ${FRESH}`]]);
    await b.drain(await b.choiceOf("three\n"));
    await exchange([a, b]);
    expect(await a.doc()).toBe(GUIDE);
  });

  test(`a line that one moves in doubt and the other deletes has its deletion as a version, ${first} first`, async () => {
    const { a, b } = await startFresh();
    await b.save(`${GUIDE}${FRESH}`);
    await a.save(GUIDE);
    await exchangeOverService(first === "a" ? [a, b] : [b, a]);
    expect(await toldBy([a, b])).toEqual([["", FRESH]]);
    expect(await a.doc()).toBe(`${GUIDE}${FRESH}`);
    await a.drain(await a.choiceOf(""));
    await exchange([a, b]);
    expect(await a.doc()).toBe(GUIDE);
    expect(await toldBy([a, b])).toEqual([]);
  });
}
