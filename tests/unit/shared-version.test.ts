import { expect, setDefaultTimeout, test } from "bun:test";
import { placedVersions } from "../../cli/local/local-conflicts.ts";
import { settle } from "../../cli/writes/settle-conflict.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const guide = (line: string) => `# Guide\n\nBuild with make.\n\n${line}- be kind\n`;

const lab = foldersOfEach();

/** Three machines, of which `c` has just put `npm` in the place of `yarn`. */
async function three(): Promise<readonly [FollowedMachine, FollowedMachine, FollowedMachine]> {
  const [a, b, c] = await lab.machines(["a", "b", "c"], guide("- yarn\n"));
  if (!a || !b || !c) throw new Error("there are three machines");
  for (const each of [a, b, c]) await each.pass(86_400_000);
  await c.save(guide("- npm\n"));
  await exchange([a, b, c]);
  expect([a.file(), b.file()]).toEqual([guide("- npm\n"), guide("- npm\n")]);
  return [a, b, c];
}

async function openOf(machine: FollowedMachine) {
  const content = await machine.doc();
  const open = (await machine.conflicts()).filter((each) => !isOver(each, content));
  return open.map((record) => ({ record, texts: record.versions.map(({ text }) => text) }));
}

/** The text in which one version of a conflict stands and the other does not. */
async function chosen(machine: FollowedMachine, wanted: string, other: string): Promise<string> {
  const content = await machine.doc();
  const found = (await openOf(machine)).find(({ texts }) => {
    return texts.includes(wanted) && texts.includes(other);
  });
  if (!found) throw new Error(`no conflict between ${wanted} and ${other}`);
  const { record, texts } = found;
  const versions = placedVersions(record, content);
  const conflict = { kind: "text", record, versions, content } as unknown;
  return settle(conflict as Parameters<typeof settle>[0], texts.indexOf(wanted)).content;
}

async function textsOf(machine: FollowedMachine): Promise<string[][]> {
  const texts = (await openOf(machine)).map((each) => each.texts);
  return texts.sort((one, other) => (String(one) < String(other) ? -1 : 1));
}

test("what two machines put in the place of lines that both keep is told besides", async () => {
  const [a, b, c] = await three();
  await a.save(guide("- bun\n"));
  await b.save(guide("- pnpm\n"));
  await exchange([a, b, c]);
  for (const machine of [a, b, c]) {
    expect(await textsOf(machine)).toEqual([
      ["- bun\n", "- npm\n"],
      ["- bun\n", "- pnpm\n"],
      ["- npm\n", "- pnpm\n"],
    ]);
  }
  for (const machine of [a, b, c]) await machine.pass(86_400_000);
  await a.setDoc(await chosen(a, "- bun\n", "- npm\n"));
  await exchange([a, b, c]);
  expect(await textsOf(c)).toEqual([["- bun\n", "- pnpm\n"]]);
  expect(await chosen(c, "- pnpm\n", "- bun\n")).toBe(guide("- pnpm\n"));
  expect(await chosen(c, "- bun\n", "- pnpm\n")).toBe(guide("- bun\n"));
});

test("choosing the lines that both keep settles all of it", async () => {
  const [a, b, c] = await three();
  await a.save(guide("- bun\n"));
  await b.save(guide("- pnpm\n"));
  await exchange([a, b, c]);
  for (const machine of [a, b, c]) await machine.pass(86_400_000);
  await a.setDoc(await chosen(a, "- npm\n", "- bun\n"));
  await a.setDoc(await chosen(a, "- npm\n", "- pnpm\n"));
  await exchange([a, b, c]);
  expect(await c.doc()).toBe(guide("- npm\n"));
  expect(await textsOf(c)).toEqual([]);
});

test("that one deletes the lines and the other changes them is told besides", async () => {
  const [a, b, c] = await three();
  await a.save(guide(""));
  await b.save(guide("- pnpm\n"));
  await exchange([a, b, c]);
  for (const machine of [a, b, c]) {
    expect(await textsOf(machine)).toEqual([
      ["", "- npm\n"],
      ["", "- pnpm\n"],
      ["- npm\n", "- pnpm\n"],
    ]);
  }
  for (const machine of [a, b, c]) await machine.pass(86_400_000);
  await a.setDoc(await chosen(a, "", "- npm\n"));
  await exchange([a, b, c]);
  expect(await textsOf(c)).toEqual([["", "- pnpm\n"]]);
  expect(await chosen(c, "", "- pnpm\n")).toBe(guide(""));
});

test("what was dismissed is not told again when machines meet for another reason", async () => {
  const [a, b, c] = await three();
  await a.save(guide("- bun\n"));
  await b.save(guide("- pnpm\n"));
  await exchange([a, b, c]);
  const both = (await openOf(a)).find(({ texts }) => !texts.includes("- npm\n"));
  await a.dismiss(both?.record.id ?? "");
  await exchange([a, b, c]);
  for (const machine of [a, b, c]) await machine.pass(86_400_000);
  await a.save(`${await a.doc()}of a\n`);
  await b.save((await b.doc()).replace("# Guide", "# Guide of b"));
  await exchange([a, b, c]);
  expect(await textsOf(c)).toEqual([
    ["- bun\n", "- npm\n"],
    ["- npm\n", "- pnpm\n"],
  ]);
});

test("what one machine kept and left out in two conflicts is no dispute with itself", async () => {
  const [a, b] = await lab.pair(guide("- yarn\n"));
  await a.save(guide("- bun\n"));
  await b.save(guide("- pnpm\n"));
  await exchange([a, b]);
  // An editor that has not reloaded the file, or somebody who settles git's marks.
  await b.save(guide("- pnpm\n- of b\n"));
  await exchange([a, b]);
  for (const machine of [a, b]) {
    expect(await textsOf(machine)).toEqual([
      ["", "- bun\n"],
      ["- bun\n", "- pnpm\n"],
    ]);
  }
});
