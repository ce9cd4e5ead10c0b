import { expect, setDefaultTimeout, test } from "bun:test";
import { placedVersions, type TextConflict } from "../../cli/local/local-conflicts.ts";
import { bringAllBack } from "../../cli/writes/bring-all-back.ts";
import { settle, settledAlong } from "../../cli/writes/settle-conflict.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import type { TextConflictRecord } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const BASE = "# T\n\n- one\n- two\n- three\n\n## S\n\n- five\n";
const ONE = "## One\n- a1\n- a2\n- a3\n- a4\n- a5\n";
const TWO = "## Two\n- b1\n- b2\n- b3\n";
const THREE = "## Three\n- c1\n- c2\n- c3\n- c4\n- c5\n- c6\n";

const lab = foldersOfEach();

type Three = readonly [FollowedMachine, FollowedMachine, FollowedMachine];

/** Three machines that had a text long ago. */
async function three(text: string): Promise<Three> {
  const [a, b, c] = await lab.machines(["a", "b", "c"], text);
  if (!a || !b || !c) throw new Error("there are three machines");
  for (const each of [a, b, c]) await each.pass(86_400_000);
  return [a, b, c];
}

/** What each saves while it hears of nobody, and then all meet. */
async function meet(all: Three, texts: readonly string[]): Promise<void> {
  for (const [at, each] of all.entries()) {
    const text = texts[at];
    if (text !== undefined) await each.save(text);
  }
  await exchange(all);
}

async function openOf(machine: FollowedMachine) {
  const content = await machine.doc();
  const open = (await machine.conflicts()).filter((each) => !isOver(each, content));
  return open.map((record) => ({ record, texts: record.versions.map(({ text }) => text) }));
}

async function textsOf(machine: FollowedMachine): Promise<string[][]> {
  const texts = (await openOf(machine)).map((each) => each.texts);
  return texts.sort((one, other) => (String(one) < String(other) ? -1 : 1));
}

function shownAs(record: TextConflictRecord, content: string): TextConflict {
  const versions = placedVersions(record, content);
  const document = { layer: "project", name: "x" };
  return { kind: "text", id: record.id, document, record, versions, content } as never;
}

/**
 * As the command does: the lines of both versions are taken out, and the chosen ones put anew. What
 * is settled along with it goes, too.
 */
async function choose(machine: FollowedMachine, wanted: string, other: string): Promise<string> {
  const content = await machine.doc();
  const found = (await openOf(machine)).find(({ texts }) => {
    return texts.includes(wanted) && texts.includes(other);
  });
  if (!found) throw new Error(`no conflict between ${wanted} and ${other}`);
  const all = (await openOf(machine)).map(({ record }) => shownAs(record, content));
  const conflict = shownAs(found.record, content);
  const settled = settle(conflict, found.texts.indexOf(wanted));
  await machine.setDoc(settled.without);
  await machine.setDoc(settled.content);
  const along = settledAlong(conflict, all, settled.content);
  for (const { id } of [conflict, ...along]) await machine.deleteConflict(id);
  return settled.content;
}

const two = (lines: string) => BASE.replace("- two\n", lines);

test("what three machines put in the place of a line is told two by two", async () => {
  const all = await three(BASE);
  const [a, b, c] = all;
  await meet(all, [two("- A\n"), two("- B\n"), two("- C\n")]);
  for (const machine of all) {
    expect(await textsOf(machine)).toEqual([
      ["- A\n", "- B\n"],
      ["- A\n", "- C\n"],
      ["- B\n", "- C\n"],
    ]);
  }
  const machines = (await openOf(a)).map(({ record }) =>
    record.versions.map((each) => each.machine),
  );
  expect(machines.map((pair) => pair.join()).sort()).toEqual(["a,b", "a,c", "b,c"]);
  await choose(b, "- C\n", "- A\n");
  await exchange(all);
  expect(await textsOf(c)).toEqual([["- B\n", "- C\n"]]);
  expect(await choose(c, "- C\n", "- B\n")).toBe(two("- C\n"));
  await exchange(all);
  for (const machine of all) expect(await textsOf(machine)).toEqual([]);
});

test("each order of choosing among three leaves what was chosen last, and no conflict", async () => {
  const versions = ["- A\n", "- B\n", "- C\n"];
  for (const [first, second, last] of [
    [0, 1, 2],
    [1, 0, 2],
    [2, 1, 0],
  ] as const) {
    const all = await three(BASE);
    await meet(all, versions.map(two));
    const [out, wanted, other] = [versions[first], versions[second], versions[last]];
    await choose(all[first], wanted ?? "", out ?? "");
    await exchange(all);
    await choose(all[last], wanted ?? "", other ?? "");
    await exchange(all);
    for (const machine of all) {
      expect([await machine.doc(), await textsOf(machine)]).toEqual([two(wanted ?? ""), []]);
    }
    await lab.end();
  }
});

test("what is brought back of a version whose lines stand in part stands once", async () => {
  const all = await three(BASE);
  await meet(all, [two("- A1\n- A2\n"), two("- B\n")]);
  const [a] = all;
  const [found] = await openOf(a);
  if (!found) throw new Error("no conflict");
  const content = (await a.doc()).replace("- A1\n", "");
  const conflict = shownAs(found.record, content);
  const lacking = conflict.versions.filter(({ text }) => text.includes("- A1"));
  const { content: whole, there } = bringAllBack(conflict, lacking);
  expect([there, whole.split("\n").sort()]).toEqual([1, (await a.doc()).split("\n").sort()]);
});

const CODE = "## Run\n\n```sh\nmake one\nmake all\n```\n";

test("a section that ends with code is moved, and chosen, with all of its code", async () => {
  const [title, rest] = ["# T\n\n", `\n${TWO}\n${THREE}`];
  const all = await three(`${title}${CODE}${rest}`);
  const first = `${title}${TWO}\n${CODE}\n${THREE}`;
  const last = `${title}${TWO}\n${THREE}\n${CODE}`;
  await meet(all, [first, last]);
  const [a] = all;
  const [found] = await openOf(a);
  if (!found) throw new Error("no conflict");
  const content = await a.doc();
  for (const [at, { text }] of found.record.versions.entries()) {
    expect(text).toBe(CODE);
    const chosen = settle(shownAs(found.record, content), at).content;
    expect(chosen.split("\n").filter((line) => line === "```")).toHaveLength(1);
    expect([first, last]).toContain(chosen);
  }
});

test("that one machine deletes what two others replace is told of both", async () => {
  const all = await three(BASE);
  await meet(all, [two(""), two("- B1\n- B2\n"), two("- C1\n- C2\n")]);
  for (const machine of all) {
    expect(await textsOf(machine)).toEqual([
      ["", "- B1\n- B2\n"],
      ["", "- C1\n- C2\n"],
      ["- B1\n- B2\n", "- C1\n- C2\n"],
    ]);
  }
});

test("sections that machines put in different orders are no versions of each other", async () => {
  const all = await three(`# T\n\n${ONE}${TWO}${THREE}`);
  await meet(all, [
    `# T\n\n${THREE}${ONE}${TWO}`,
    `# T\n\n${ONE}${THREE}${TWO}`,
    `# T\n\n${TWO}${THREE}${ONE}`,
  ]);
  for (const machine of all) {
    const found = await openOf(machine);
    expect(found.filter(({ record }) => record.kind === "both")).toEqual([]);
  }
  const lines = (text: string) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .sort();
  expect(lines(await all[0].doc())).toEqual(lines(`# T\n\n${ONE}${TWO}${THREE}`));
});

test("nobody is said to delete a section that two machines moved past each other", async () => {
  const all = await three(`# T\n\n${ONE}\n${TWO}\n${THREE}`);
  await meet(all, [`# T\n\n${THREE}\n${ONE}\n${TWO}`, `# T\n\n${ONE}\n${THREE}\n${TWO}`]);
  const found = await openOf(all[1]);
  expect(found.filter(({ record }) => record.kind === "both")).toEqual([]);
});

/** A conflict of A's and B's lines, long ago, and nobody hears of anybody now. */
async function apart(): Promise<Three> {
  const all = await three(BASE);
  await meet(all, [two("- A\n"), two("- B\n")]);
  for (const each of all) await each.pass(86_400_000);
  return all;
}

test("two machines that choose the same version have nothing to tell", async () => {
  const all = await apart();
  await choose(all[0], "- A\n", "- B\n");
  await choose(all[1], "- A\n", "- B\n");
  await exchange(all);
  expect(await all[2].doc()).toBe(two("- A\n"));
  for (const machine of all) expect(await textsOf(machine)).toEqual([]);
});

test("a machine that edits beside what another chooses is in no conflict with it", async () => {
  for (const [line, edited] of [
    ["- one\n", "- one\n- more\n"],
    ["- three\n", "- three, mended\n"],
    ["# T\n", "# Title\n"],
  ] as const) {
    const all = await apart();
    await choose(all[0], "- A\n", "- B\n");
    await all[2].save((await all[2].doc()).replace(line, edited));
    await exchange(all);
    expect(await all[1].doc()).toBe(two("- A\n").replace(line, edited));
    for (const machine of all) expect([edited, await textsOf(machine)]).toEqual([edited, []]);
    await lab.end();
  }
});

test("two machines that choose differently keep both versions, and that is told", async () => {
  const all = await apart();
  await choose(all[0], "- A\n", "- B\n");
  await choose(all[1], "- B\n", "- A\n");
  await exchange(all);
  for (const machine of all) expect(await textsOf(machine)).toEqual([["- A\n", "- B\n"]]);
  expect((await all[2].doc()).split("\n")).toContain("- A");
  expect((await all[2].doc()).split("\n")).toContain("- B");
});
