import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const BUILD = "## Build\n\nnpm run build\nmake all\nmake clean\nlint it\n\n";
const TEST = "## Test\n\nnpm test\njest\n\n";
const DEPLOY = "## Deploy\n\n- deploy it\n- roll back\n- tell them all about it\n- end\n";
const GUIDE = `# Guide\n\nAlways.\n\n${BUILD}${TEST}${DEPLOY}`;

const lab = foldersOfEach();

async function deletionsOf(machine: FollowedMachine) {
  const conflicts = await machine.conflicts();
  return conflicts.map(({ kind, versions }) => [kind, ...versions.map(({ text }) => text)]);
}

function without(part: string): string {
  return GUIDE.replace(part, "");
}

/** The guide with a part before another. */
function moved(part: string, before: string): string {
  return without(part).replace(before, part + before);
}

const CROSSED = [
  { what: "a section past a smaller one", part: BUILD, before: "## Deploy\n" },
  { what: "a line over the one above it", part: "- roll back\n", before: "- deploy it\n" },
  { what: "two lines past one", part: "- deploy it\n- roll back\n", before: "- end\n" },
] as const;

for (const { what, part, before } of CROSSED) {
  for (const isDeleterFirst of [true, false]) {
    const who = isDeleterFirst ? "the mover" : "the deleter";
    test(`one moves ${what}, and the other deletes it: that is told, if ${who} hears first`, async () => {
      const [a, b] = await lab.pair(GUIDE);
      await a.save(without(part));
      await b.save(moved(part, before));
      const machines = isDeleterFirst ? ([a, b] as const) : ([b, a] as const);
      await machines[1].receive(machines[0]);
      await machines[0].receive(machines[1]);
      expect(await a.doc()).toBe(await b.doc());
      const told = await deletionsOf(a);
      expect(told).toEqual(await deletionsOf(b));
      expect(told).toEqual([["deletion", "", part]]);
      for (const machine of machines) await machine.acknowledge();
      // `memsync conflicts choose` puts it where it was moved to.
      await b.drain(await b.choiceOf(part));
      expect(await b.doc()).toBe(moved(part, before));
      await exchange([a, b]);
      expect([await a.listed(), await b.listed()]).toEqual([[], []]);
    });
  }
}

test("what is deleted where nothing was moved over it is told to nobody", async () => {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(without(BUILD));
  await b.save(moved("- end\n", "- deploy it\n"));
  await exchange([a, b]);
  expect(await deletionsOf(a)).toEqual([]);
  expect(await a.doc()).toBe(moved("- end\n", "- deploy it\n").replace(BUILD, ""));
});

test("a line over which another was moved, and that stands, makes no deletion doubtful", async () => {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(without("- deploy it\n"));
  await b.save(moved("- tell them all about it\n", "- deploy it\n"));
  await exchange([a, b]);
  expect(await deletionsOf(a)).toEqual([]);
});

test("what the deleter put elsewhere was moved by both, and not deleted", async () => {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(`${without(BUILD).trimEnd()}\n\n${BUILD.trimEnd()}\n`);
  await b.save(moved(BUILD, "## Deploy\n"));
  await exchange([a, b]);
  const kinds = (await a.conflicts()).map(({ kind }) => kind);
  expect(kinds).not.toContain("deletion");
  expect(await a.doc()).toContain("make clean");
});

for (const [how, saved] of [
  ["", without(BUILD)],
  [", and puts another one in its place", GUIDE.replace(BUILD, "## Ship\n\nship it\nat once\n\n")],
] as const)
  test(`one moves a line into a section that the other deletes${how}: the deletion is told`, async () => {
    const [a, b] = await lab.pair(GUIDE);
    await a.save(saved);
    await b.save(GUIDE.replace("- end\n", "").replace("make all\n", "make all\n- end\n"));
    await exchange([a, b]);
    for (const machine of [a, b]) {
      const told = (await deletionsOf(machine)).filter(([kind]) => kind === "deletion");
      expect(told.map((each) => each.map((text) => text.trimEnd()))).toEqual([
        ["deletion", "", BUILD.trimEnd()],
      ]);
      expect(machine.file().match(/^- end$/gm)).toHaveLength(1);
    }
    const [, , section = ""] = (await deletionsOf(b)).find(([kind]) => kind === "deletion") ?? [];
    await b.drain(await b.choiceOf(section));
    expect(await b.doc()).toContain(section.trimEnd());
  });

for (const [what, empty, saved, isTold] of [
  ["writes otherwise, which has no lines,", "## Empty\n\n", "### Empty:\n\n", false],
  ["renames, which has no lines,", "## Empty\n\n", "## Others\n\n", true],
  ["turns round, which has no lines,", "## Never do\n\n", "## Always do\n\n", true],
  ["replaces, which has no lines,", "## Empty\n\n", "## Release\n\n- tag it\n- sign it\n\n", true],
  ["renames with all in it", "## Empty\n\n### Inner\n\n", "## Others\n\n### Within\n\n", true],
  ["deletes, which has no lines,", "## Empty\n\n", "", true],
  ["renames, and deletes a part of,", "## Empty\n\n### Inner\n\n", "## Others\n\n", true],
] as const)
  for (const first of ["a", "b"] as const)
    test(`of a section that one ${what} the other's line moved into it tells ${isTold ? "the deletion" : "no deletion"}, ${first} first`, async () => {
      const having = (part: string) => GUIDE.replace(DEPLOY, part + DEPLOY);
      const moves = having(`${empty}- end\n\n`).replace("about it\n- end\n", "about it\n");
      const [a, b] = await lab.savedApart(having(empty), [having(saved), moves]);
      await exchangeOverService(first === "a" ? [a, b] : [b, a]);
      for (const machine of [a, b]) {
        expect((await deletionsOf(machine)).some(([kind]) => kind === "deletion")).toBe(isTold);
        expect(machine.file().match(/^- end$/gm)).toHaveLength(1);
      }
    });

test("a line moved into a section that the other renames, mends or moves is no matter of a deletion", async () => {
  const moves = GUIDE.replace("- end\n", "").replace("make all\n", "make all\n- end\n");
  for (const saved of [
    GUIDE.replace("## Build", "## How to build"),
    GUIDE.replace("make all", "make all of it").replace("lint it", "lint it all"),
    `${without(BUILD).trimEnd()}\n\n${BUILD.trimEnd()}\n`,
  ]) {
    const [a, b] = await lab.pair(GUIDE);
    await a.save(saved);
    await b.save(moves);
    await exchange([a, b]);
    expect((await a.conflicts()).map(({ kind }) => kind)).not.toContain("deletion");
    await lab.end();
  }
});

test("what the deleter kept of it elsewhere says nothing of the rest, which another moved", async () => {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(without(BUILD).replace("jest\n", "jest\nmake all\n"));
  await b.save(moved(BUILD, "## Deploy\n"));
  await exchange([a, b]);
  const rest = BUILD.replace("make all\n", "");
  for (const machine of [a, b])
    expect(await deletionsOf(machine)).toEqual([["deletion", "", rest]]);
});

for (const { what, part, before } of CROSSED) {
  test(`others moved ${what}, and a save of the text of before lacks it: it stands there, told`, async () => {
    const [a, b] = await lab.pair(GUIDE);
    await a.save(moved(part, before));
    await exchange([a, b]);
    await b.pass(2000);
    await b.save(without(part));
    await exchange([a, b]);
    expect(await a.doc()).toBe(moved(part, before));
    const told = await deletionsOf(a);
    expect(told).toHaveLength(1);
    const [[kind, ...texts] = []] = told;
    expect(kind).toBe("unseen");
    const said = (text: string) => text.split("\n").filter((line) => line !== "");
    expect(texts.map((text) => said(text ?? ""))).toEqual([[], said(part)]);
    await b.drain(await b.choiceOf(""));
    await exchange([a, b]);
    expect(await a.doc()).toBe(without(part));
  });
}

test("a save that lacks a part of what others moved something over deletes that", async () => {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(moved(BUILD, "## Deploy\n"));
  await exchange([a, b]);
  await b.pass(2000);
  const text = moved(BUILD, "## Deploy\n").replace("make clean\n", "");
  await b.save(text);
  await exchange([a, b]);
  expect(await a.doc()).toBe(text);
  expect(await deletionsOf(a)).toEqual([]);
});

const ADDED = BUILD.replace("lint it\n", "lint it\nadded by C\n");

for (const changed of [ADDED, BUILD.replace("make all", "make all by C")]) {
  test(`a third machine makes ${JSON.stringify(changed)} of what one deletes and another moves: one conflict says all`, async () => {
    const [a, b, c] = await lab.machines(["a", "b", "c"], GUIDE);
    if (!a || !b || !c) throw new Error("there are three machines");
    await a.save(without(BUILD));
    await b.save(moved(BUILD, "## Deploy\n"));
    await c.save(GUIDE.replace(BUILD, changed));
    await exchange([a, c]);
    await exchange([b, a, c]);
    expect(await deletionsOf(a)).toEqual([["both", "", `${changed.trimEnd()}\n`]]);
    expect(await deletionsOf(b)).toEqual(await deletionsOf(a));
  });
}

for (const how of ["choose the deletion", "dismiss"] as const) {
  test(`a third machine adds to what one deletes and another moves: after ${how} the move is told`, async () => {
    const [a, b, c] = await lab.machines(["a", "b", "c"], GUIDE);
    if (!a || !b || !c) throw new Error("there are three machines");
    await a.save(without(BUILD));
    await b.save(moved(BUILD, "## Deploy\n"));
    await c.save(GUIDE.replace(BUILD, ADDED));
    await exchange([a, c]);
    const [told] = await a.conflicts();
    if (how === "dismiss") await a.dismiss(told?.id ?? "");
    else await a.drain(await a.choiceOf(""));
    await exchange([a, c]);
    expect(await a.listed()).toEqual([]);
    await exchange([b, a, c]);
    expect(await deletionsOf(a)).toEqual([["deletion", "", BUILD]]);
    await b.drain(await b.choiceOf(BUILD));
    expect(await b.doc()).toContain(`${TEST}${BUILD}${DEPLOY}`);
  });
}

test("one swaps two lines and mends one, and the other deletes the one that stayed: that is told", async () => {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(without("- roll back\n"));
  await b.save(
    moved("- roll back\n", "- deploy it\n").replace("- deploy it", "- deploy it, says B"),
  );
  await exchange([a, b]);
  expect(await deletionsOf(a)).toEqual([["deletion", "", "- roll back\n"]]);
});

test("what the deleter mended is not told to be gone", async () => {
  const [a, b] = await lab.pair(GUIDE);
  await a.save(
    GUIDE.replace("make clean", "make clean, says A").replace("make all", "make all, says A"),
  );
  await b.save(moved(BUILD, "## Deploy\n"));
  await exchange([a, b]);
  expect(await deletionsOf(a)).toEqual([]);
});

const FENCE = "```sh\nmake all\nmake clean\n```\n\n";
const LOOK = "Then look at the log.\n\n";
const NEW = "Run this in a shell.\n\n";
const END = "## End\n\n- it is over\n";

const WRITTEN_BESIDE = [
  { where: "above both", text: NEW + LOOK + FENCE },
  { where: "between them", text: LOOK + NEW + FENCE },
  { where: "below both", text: LOOK + FENCE + NEW },
  { where: "in place of the smaller part's end", text: `Then look at it.\n\n${NEW}${FENCE}` },
] as const;

for (const { where, text } of WRITTEN_BESIDE) {
  test(`one moves a part and writes a line ${where}, and the other deletes the part: that is told`, async () => {
    const guideOf = (part: string) => `# Guide\n\nAlways.\n\n${part}${END}`;
    const [a, b] = await lab.pair(guideOf(FENCE + LOOK));
    await a.save(guideOf(LOOK));
    await b.save(guideOf(text));
    await exchange([a, b]);
    expect(await deletionsOf(a)).toEqual([["deletion", "", FENCE]]);
    await b.drain(await b.choiceOf(FENCE));
    expect(await b.doc()).toBe(guideOf(text));
  });
}

test("a section is told where the line above it was mended, or the smaller section grew", async () => {
  for (const [line, test] of [
    ["Always and ever.", TEST],
    ["Always.", TEST.replace("jest\n", "jest\nvitest\n")],
    ["Always.", TEST.replace("jest\n", "")],
  ] as const) {
    const [a, b] = await lab.pair(GUIDE);
    await a.save(without(BUILD));
    await b.save(`# Guide\n\n${line}\n\n${test}${BUILD}${DEPLOY}`);
    await exchange([a, b]);
    expect(await deletionsOf(a)).toEqual([["deletion", "", BUILD]]);
    await lab.end();
  }
});

test("a part over which two lines were moved is told once", async () => {
  const [one, two] = ["make it first\n\n", "make it last\n\n"];
  const guideOf = (...parts: readonly string[]) => `# Guide\n\n${parts.join("")}${END}`;
  const [a, b] = await lab.pair(guideOf(one, FENCE, two));
  await a.save(guideOf(one, two));
  await b.save(guideOf(two, FENCE, one));
  await exchange([a, b]);
  expect(await deletionsOf(a)).toEqual([["deletion", "", FENCE]]);
});
