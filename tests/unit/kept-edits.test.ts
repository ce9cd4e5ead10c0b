import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const TEST = "## Test\n\nUse make test.\nBefore a commit.\nAnd after.\nAlways.\n";
const SECTION = "## Build\n\nUse make.\nThen strip.\n";
const GUIDE = `# Guide\n\n${SECTION}\n${TEST}`;
const [WITHOUT, EDITED] = [
  GUIDE.replace("## Build\n\nUse make.\nThen strip.\n\n", ""),
  GUIDE.replace("Use make.", "Use bun."),
];

const lab = foldersOfEach();

/** Two machines, long after they had the text last. */
async function pair() {
  const [a, b] = await lab.pair(GUIDE);
  return { a, b };
}

async function versionsOf(machine: FollowedMachine) {
  const conflicts = await machine.conflicts();
  return conflicts.map(({ versions }) => versions.map(({ text, machine: by }) => [text, by]));
}

test("a line that one edits in a section that the other deletes stays, and that is told", async () => {
  const { a, b } = await pair();
  await a.save(WITHOUT);
  await b.save(EDITED);
  await b.receive(a);
  await a.receive(b);
  expect([await a.doc(), await b.doc()]).toEqual([
    WITHOUT.replace("## Test", "Use bun.\n## Test"),
    WITHOUT.replace("## Test", "Use bun.\n## Test"),
  ]);
  expect(await versionsOf(a)).toEqual(await versionsOf(b));
  expect(await versionsOf(b)).toEqual([
    [
      ["", undefined],
      [SECTION.replace("make", "bun"), "b"],
    ],
  ]);
});

test("whoever hears of the other first tells the same", async () => {
  const { a, b } = await pair();
  await a.save(WITHOUT);
  await b.save(EDITED);
  await a.receive(b);
  await b.receive(a);
  const told = (await versionsOf(a)).flat();
  expect(told.map(([text]) => text)).toEqual(["", SECTION.replace("make", "bun")]);
  expect(await versionsOf(b)).toEqual(await versionsOf(a));
});

test("a line that one puts into a section that the other deletes is told", async () => {
  const { a, b } = await pair();
  await a.save(WITHOUT);
  await b.save(GUIDE.replace("Use make.\n", "Use make.\nNever on Friday.\n"));
  await b.receive(a);
  await a.receive(b);
  expect(await a.doc()).toContain("Never on Friday.");
  const told = (await versionsOf(a)).flat();
  expect(told.map(([text]) => text)).toEqual([
    "",
    SECTION.replace("Use make.\n", "Use make.\nNever on Friday.\n"),
  ]);
});

test("one disagreement is told once, however often the other's part of it comes", async () => {
  const { a, b } = await pair();
  await a.save(GUIDE.replace("Use make.\nThen strip.", "Use cmake.\nStrip never."));
  await b.save(GUIDE.replace("Use make.\nThen strip.", "Use bun.\nStrip always."));
  for (let round = 0; round < 2; round++) await b.receive(a);
  await a.receive(b);
  expect(await versionsOf(b)).toHaveLength(1);
  expect(await versionsOf(a)).toHaveLength(1);
});

test("what both delete, and one replaces in another place, is no conflict", async () => {
  const { a, b } = await pair();
  await a.save(WITHOUT);
  await b.save(`${WITHOUT}\nMore.\n`);
  await exchange([a, b]);
  expect(await versionsOf(b)).toEqual([]);
  expect(await a.doc()).toBe(`${WITHOUT}\nMore.\n`);
});

test("what comes after the other's deletion is no conflict", async () => {
  const { a, b } = await pair();
  await a.save(WITHOUT);
  await exchange([a, b]);
  expect(b.file()).toBe(WITHOUT);
  await b.pass(120_000);
  await b.save(WITHOUT.replace("## Test", "## Build with bun\n\n## Test"));
  await exchange([a, b]);
  expect([await versionsOf(a), await versionsOf(b)]).toEqual([[], []]);
});

test("a line that one deletes in a block that the other moves stays, and that is told", async () => {
  const { a, b } = await pair();
  const moved = `${WITHOUT}\n## Build\n\nUse make.\nThen strip.\n`;
  await a.save(moved);
  await b.save(GUIDE.replace("Then strip.\n", ""));
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([moved, moved]);
  const told = [
    ["", undefined],
    ["Then strip.\n", "a"],
  ];
  expect([await versionsOf(a), await versionsOf(b)]).toEqual([[told], [told]]);
});

test("that is told, too, where the deletion is the first to come", async () => {
  const { a, b } = await pair();
  await a.save(GUIDE.replace("Then strip.\n", ""));
  await exchange([a]);
  await b.save(`${WITHOUT}\n## Build\n\nUse make.\nThen strip.\n`);
  await b.receive(a);
  await a.receive(b);
  const told = (await versionsOf(b)).flat();
  expect(told.map(([text]) => text)).toEqual(["", "Then strip.\n"]);
  expect(await versionsOf(a)).toEqual(await versionsOf(b));
});

test("a section that one moves and the other deletes as a whole is one conflict", async () => {
  const { a, b } = await pair();
  await a.save(`${WITHOUT}\n## Build\n\nUse make.\nThen strip.\n`);
  await b.save(WITHOUT);
  await exchange([a, b]);
  const told = (await versionsOf(a)).flat();
  expect(told.map(([text]) => text)).toEqual(["", "## Build\n\nUse make.\nThen strip.\n"]);
  expect(await b.doc()).toContain("Then strip.");
});

test("what both move to different places stands at both, and that is told", async () => {
  const { a, b } = await pair();
  const section = "## Build\n\nUse make.\nThen strip.\n";
  await a.save(`${WITHOUT}\n${section}`);
  await b.save(WITHOUT.replace("Before a commit.\n", `Before a commit.\n${section}`));
  await exchange([a, b]);
  const [conflict, ...others] = await a.conflicts();
  expect(others).toEqual([]);
  expect(conflict?.kind).toBe("twice");
  expect(conflict?.versions.map(({ text }) => text)).toEqual([section, section]);
  expect(conflict?.versions.map(({ machine }) => machine)).toEqual(["a", "b"]);
  expect(await b.conflicts()).toEqual(await a.conflicts());
});

test("what both move to the same place stands there once, and nothing is told", async () => {
  const { a, b } = await pair();
  const moved = `${WITHOUT}\n## Build\n\nUse make.\nThen strip.\n`;
  await a.save(moved);
  await b.save(moved);
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([moved, moved]);
  expect([await a.conflicts(), await b.conflicts()]).toEqual([[], []]);
});

test("an open conflict about the same line elsewhere hides no other", async () => {
  const { a, b } = await pair();
  const same = "Before a commit.\n";
  await a.save(GUIDE.replace(same, ""));
  await b.save(GUIDE.replace("Use make test.\n", "").replace(same, "Run all of it.\n"));
  await exchange([a, b]);
  expect(await a.conflicts()).toHaveLength(1);
  const [now] = [await a.doc()];
  for (const each of [a, b]) await each.pass(120_000);
  await a.save(now.replace("## Build\n\nUse make.\nThen strip.\n\n", ""));
  await b.save(now.replace("Use make.\n", "Run all of it.\n"));
  await exchange([a, b]);
  expect(await a.conflicts()).toHaveLength(2);
  expect(await b.conflicts()).toEqual(await a.conflicts());
});

test("a line that one edits while the other settles it otherwise is told, looked at late, too", async () => {
  const { a, b } = await pair();
  await a.save(GUIDE.replace("make.", "yarn."));
  await b.save(GUIDE.replace("make.", "pnpm."));
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  const met = await a.doc();
  await a.save(met.replace("Use yarn.\n", "").replace("Use pnpm.\n", ""));
  await a.save(met.replace("Use yarn.\n", ""));
  b.put(met.replace("yarn.", "yarn 4."));
  await b.receive(a);
  await exchange([a, b]);
  expect(await a.doc()).toBe(met.replace("yarn.", "yarn 4."));
  const told = (await a.conflicts()).map(({ versions }) => versions.map(({ text }) => text));
  expect(told).toContainEqual(["Use pnpm.\n", "Use yarn 4.\n"]);
  expect(await b.conflicts()).toEqual(await a.conflicts());
});

test("a section that both move is told, also where a diff takes the smaller part for the moved one", async () => {
  for (const isFirst of [true, false]) {
    const { a, b } = await pair();
    const build = "## Build\n\nUse make.\nThen strip.\n\n";
    await a.save(`${build}${GUIDE.replace(build, "")}`);
    await b.save(`${GUIDE.replace(build, "")}\n${build.trimEnd()}\n`);
    if (isFirst) await a.receive(b);
    await exchange([a, b]);
    const [moved] = await a.conflicts();
    expect([moved?.kind, moved?.versions.map(({ text }) => text.trim())]).toEqual([
      "moved",
      [build.trim(), build.trim()],
    ]);
    const places = moved?.versions.map(({ places: [place] }) => place?.behind.trim());
    expect(places).toEqual(["", GUIDE.trim().split("\n").at(-1)]);
    expect(await b.conflicts()).toEqual(await a.conflicts());
    await lab.end();
  }
});

test("sections that each moves to a place of its own are no conflict", async () => {
  const { a, b } = await pair();
  const section = (name: string, lines: number) =>
    `## ${name}\n\n${Array.from({ length: lines }, (_, at) => `${name} ${at}.\n`).join("")}\n`;
  const [one, two, three] = [section("One", 2), section("Two", 4), section("Three", 3)];
  const end = section("End", 8);
  await a.save(`# T\n\n${one}${two}${three}${end}`);
  // That most of what was there before is gone is told.
  for (const { id } of await a.conflicts()) await a.dismiss(id);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  await a.save(`# T\n\n${two}${three}${end}${one}`);
  await b.save(`# T\n\n${one}${three}${two}${end}`);
  await exchange([a, b]);
  expect(await a.doc()).toBe(`# T\n\n${three}${two}${end}${one}`);
  expect(await a.conflicts()).toEqual([]);
});

test("a line that each writes at a place of its own is told, and one command leaves one", async () => {
  const { a, b } = await pair();
  const line = "Ask before a release.\n";
  await a.save(GUIDE.replace("Use make.\n", `Use make.\n${line}`));
  await b.save(GUIDE);
  await b.save(`${GUIDE}${line}`);
  await exchange([a, b]);
  expect((await a.doc()).split(line)).toHaveLength(3);
  const [conflict] = await a.conflicts();
  expect([conflict?.kind, conflict?.versions.map(({ text }) => text)]).toEqual([
    "twice",
    [line, line],
  ]);
  expect(await b.conflicts()).toEqual(await a.conflicts());
});

test("sections that have a line in common are no such thing", async () => {
  const { a, b } = await pair();
  await a.save(`## Install\n\nSo:\n\n    npm ci\n\n${GUIDE}`);
  await b.save(`${GUIDE}\n## Again\n\nSo:\n\n    npm ci --force\n`);
  await exchange([a, b]);
  expect(await a.conflicts()).toEqual([]);
});

test("a line that one leaves out of a block that both move is told", async () => {
  const { a, b } = await pair();
  const moved = `${WITHOUT}\n## Build\n\nUse make.\nThen strip.\n`;
  await a.save(moved);
  await b.save(moved.replace("Then strip.\n", ""));
  await exchange([a, b]);
  expect(await a.doc()).toContain("Then strip.\n");
  const told = (await versionsOf(a)).flat();
  expect(told.map(([text]) => text)).toEqual(["", "Then strip.\n"]);
  expect(await versionsOf(b)).toEqual(await versionsOf(a));
});

test("a deletion that meets a move is told, whatever was typed and taken back beside it", async () => {
  for (const isFirst of [true, false]) {
    const { a, b } = await pair();
    await a.save(`${GUIDE}A long line that somebody tried out and took back again.\n`);
    await a.save(GUIDE.replace("Then strip.\n", ""));
    await b.save(`${WITHOUT}\n## Build\n\nUse make.\nThen strip.\n`);
    if (isFirst) await a.receive(b);
    await b.receive(a);
    await a.receive(b);
    const told = (await versionsOf(b)).flat();
    expect(told.map(([text]) => text)).toEqual(["", "Then strip.\n"]);
    await lab.end();
  }
});
