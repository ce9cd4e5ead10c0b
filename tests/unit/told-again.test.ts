import { expect, setDefaultTimeout, test } from "bun:test";
import { placedVersions } from "../../cli/local/local-conflicts.ts";
import { settle } from "../../cli/writes/settle-conflict.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const TEST = "## Test\n\nUse make test.\nBefore a commit.\nAnd after.\nAlways.\n";
const GUIDE = `# Guide\n\n## Build\n\nUse make.\nThen strip.\n\n${TEST}`;

const lab = clonesOfEach();
const folders = foldersOfEach();

async function pair(text = GUIDE) {
  const [a, b] = await folders.pair(text);
  await later(a, b);
  return { a, b };
}

async function later(...machines: readonly FollowedMachine[]): Promise<void> {
  for (const each of machines) await each.pass(86_400_000);
}

/** What a machine shows: of each conflict its kind, and who wrote which version, with a time? */
async function openOf(machine: FollowedMachine): Promise<unknown[][]> {
  const content = await machine.doc();
  const open = (await machine.conflicts()).filter((each) => !isOver(each, content));
  return open.map(({ kind, versions }) => [
    kind,
    ...versions.map(({ text, machine: by, at }) => [text, by, at !== undefined]),
  ]);
}

test("what was settled by hand is told again when it happens again", async () => {
  const { a, b } = await pair();
  const withLine = (line: string) => GUIDE.replace("Use make.\n", `Use make.\n${line}`);
  await b.save(withLine("Use bun.\n"));
  await exchange([a, b]);
  await a.save(withLine("Use deno.\n"));
  await exchange([a, b]);
  expect(await openOf(a)).toEqual([
    ["unseen", ["Use bun.\n", "b", true], ["Use deno.\n", "a", true]],
  ]);
  await later(a, b);
  await a.save(GUIDE);
  await exchange([a, b]);
  expect(await openOf(a)).toEqual([]);
  await later(a, b);
  await b.save(withLine("Use bun.\n"));
  await exchange([a, b]);
  await a.save(withLine("Use node.\n"));
  await exchange([a, b]);
  const told = [["unseen", ["Use bun.\n", "b", true], ["Use node.\n", "a", true]]];
  expect([await openOf(a), await openOf(b)]).toEqual([told, told]);
});

test("a save that replaces what others have just written says whose that was and when", async () => {
  const { a, b } = await pair();
  await b.save(GUIDE.replace("Use make.\n", "Use bun.\n"));
  await exchange([a, b]);
  await a.pass(20_000);
  await a.save(GUIDE.replace("Use make.\n", "Use deno.\n"));
  await exchange([a, b]);
  const told = [["unseen", ["Use bun.\n", "b", true], ["Use deno.\n", "a", true]]];
  expect([await openOf(a), await openOf(b)]).toEqual([told, told]);
});

test("a conflict about a line says nothing of one that is a part of it", async () => {
  const rest = "\n## Notes\n\nstrip.\nOther.\nMore.\nLess.\n";
  const { a, b } = await pair(`${GUIDE}${rest}`);
  await a.save(`${GUIDE}${rest}`.replace("Then strip.\n", ""));
  const build = "## Build\n\nUse make.\nThen strip.\n";
  await b.save(`${GUIDE.replace(`${build}\n`, "")}${rest}\n${build}`);
  await exchange([a, b]);
  await later(a, b);
  const now = await a.doc();
  await a.save(now.replace("\nstrip.\n", "\n"));
  await b.save(`${now.replace("\nstrip.\n", "\n")}strip.\n`);
  await exchange([a, b]);
  const told = (await openOf(a)).map(([, ...versions]) => versions.flat());
  expect(told).toContainEqual(["", "a", false, "strip.\n", "b", false]);
});

test("the same deletion of most of a text is told anew, by whom and when", async () => {
  const long = Array.from({ length: 14 }, (_, at) => `Rule ${at + 1} of the house.\n`).join("");
  const { a, b } = await pair(long);
  await a.save("Rule 1 of the house.\n");
  await exchange([a, b]);
  const [first] = await b.conflicts();
  await later(a, b);
  await a.save(long);
  await exchange([a, b]);
  expect(await openOf(b)).toEqual([]);
  await later(a, b);
  await b.save("Rule 1 of the house.\n");
  await exchange([a, b]);
  const [again, ...more] = await a.conflicts();
  expect([again?.id, more]).toEqual([first?.id as string, []]);
  expect(again?.versions.map(({ machine }) => machine)).toEqual(["b", undefined]);
  expect(again?.foundAt).toBeGreaterThan(first?.foundAt ?? Number.POSITIVE_INFINITY);
});

/** The document as it would be with a version of the only conflict alone. */
async function chosen(machine: FollowedMachine, isMeant: (text: string) => boolean) {
  const [record, ...more] = await machine.conflicts();
  if (!record || more.length > 0) throw new Error("there is not one conflict");
  const content = await machine.doc();
  const versions = placedVersions(record, content);
  const at = versions.findIndex(({ text }) => isMeant(text));
  const conflict = { kind: "text", record, versions, content } as unknown;
  return settle(conflict as Parameters<typeof settle>[0], at).content;
}

test("one command of two that each side meant for its own is told", async () => {
  const { a, b } = await pair();
  await a.save(`${GUIDE}### On staging\nRun \`make deploy\`.\n`);
  await b.save(`${GUIDE}### On production\nRun \`make deploy\`.\n`);
  await exchange([a, b]);
  const told = (await openOf(a)).map(([kind, ...versions]) => [kind, ...versions.flat()]);
  expect(told).toHaveLength(1);
  expect(told.flat()).toContain("### On staging\n");
  expect(await openOf(b)).toEqual(await openOf(a));
});

test("a first meeting where either has more is told, and one command settles it", async () => {
  const { a, b } = await lab.pair({ "README.md": "x\n" });
  await a.save(GUIDE);
  await exchange([a]);
  const ofB = GUIDE.replace("Always.", "Never.").replace("Use make.\n", "");
  b.put(ofB);
  await b.receive(a);
  await b.settle();
  await exchange([a, b]);
  expect(await a.doc()).toContain("Never.\nAlways.\n");
  expect((await openOf(a)).map(([kind]) => kind)).toEqual(["renewed"]);
  expect(await chosen(b, (text) => text.includes("Never."))).toBe(ofB);
  expect(await chosen(b, (text) => text.includes("Always."))).toBe(GUIDE);
});

test("what is chosen of a history that was pushed anew comes where git has it", async () => {
  const { a, b } = await lab.pair({ [FILE]: GUIDE });
  const dir = lab.git.path("stranger");
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "stranger");
  const text = `${GUIDE}\n## Deploy\n\nAsk first.\nThen wait.\n\n## Last\n\nGo home.\n`;
  await lab.git.write(`${dir}/${FILE}`, text);
  await lab.git.run(dir, "commit", "-qa", "--amend", "-m", "anew");
  await lab.git.run(dir, "push", "-qf");
  await later(a, b);
  await lab.run(b, "fetch", "-q");
  await lab.run(b, "reset", "-q", "--hard", "origin/main");
  await b.settle();
  await exchange([a, b]);
  const content = await chosen(b, (version) => version !== "");
  const words = (of: string) => of.split("\n").filter((line) => line !== "");
  expect(words(content)).toEqual(words(text));
});

test("lines are brought back behind long ones", async () => {
  const wide = (name: string) => `${name} ${"long ".repeat(50)}\n`;
  const rules = Array.from({ length: 12 }, (_, at) => `Rule ${at} of the house.\n`).join("");
  const text = `${wide("one")}${wide("two")}${wide("three")}${rules}Last.\n`;
  const { a, b } = await pair(text);
  await a.save(text.replace(rules, ""));
  await exchange([a, b]);
  expect(await chosen(b, (version) => version !== "")).toBe(text);
});
