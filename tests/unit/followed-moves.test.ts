import { expect, setDefaultTimeout, test } from "bun:test";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const BUILD = "## Build\n\nRun this:\n\n```sh\nnpm ci\nnpm run build\n```\n\n";
const BUILT = "## How to build\n\nRun that:\n\n```sh\nbun install\nbun run build\n```\n\n";
const TEST = "## Test\n\n- run all of it\n- be quick\n- before a commit\n- and after\n\n";
const RELEASE = "## Release\n\n- tag it\n- push it\n- tell all\n- rest\n\n";
const guide = (...sections: readonly string[]) =>
  `# Guide\n\nTwo of us.\n\n${sections.join("")}## End\n\n- be kind\n`;
const GUIDE = guide(BUILD, TEST, RELEASE);
const MOVED = guide(TEST, RELEASE, BUILD);

const lab = foldersOfEach();

/** Two machines, long after they had the text last. */
async function pair() {
  const [a, b] = await lab.pair(GUIDE);
  return { a, b };
}

/** What both have in the end, and the texts of what is told. */
async function outcome(machines: readonly FollowedMachine[]) {
  await exchange(machines);
  const [text = "", ...others] = await Promise.all(machines.map((each) => each.doc()));
  for (const other of others) expect(other).toBe(text);
  const records = (await machines[0]?.conflicts()) ?? [];
  const open = records.filter((record) => !isOver(record, text));
  return { text, told: open.map(({ versions }) => versions.map((each) => each.text)) };
}

const FOLLOWED: Readonly<Record<string, readonly [edited: string, merged: string]>> = {
  "a mended line": [GUIDE.replace("npm ci", "bun install"), MOVED.replace("npm ci", "bun install")],
  "all lines with a word": [guide(BUILT, TEST, RELEASE), guide(TEST, RELEASE, BUILT)],
  "a new line in it": [
    GUIDE.replace("npm ci\n", "npm ci\nnpm test\n"),
    MOVED.replace("npm ci\n", "npm ci\nnpm test\n"),
  ],
  "several lines for one": [
    GUIDE.replace("Run this:\n", "In a shell\n\nrun this:\n"),
    MOVED.replace("Run this:\n", "In a shell\n\nrun this:\n"),
  ],
};

for (const [what, [edited, merged]] of Object.entries(FOLLOWED)) {
  for (const first of ["a", "b"] as const) {
    test(`${what} of a section goes where another machine moved it, heard by ${first} first`, async () => {
      const { a, b } = await pair();
      await a.save(edited);
      await b.save(MOVED);
      const [one, other] = first === "a" ? [a, b] : [b, a];
      await one.receive(other);
      await other.receive(one);
      expect(await outcome([a, b])).toEqual({ text: merged, told: [] });
    });
  }
}

test("a line at the end of a section's list goes with it, though the blank line stays", async () => {
  const { a, b } = await pair();
  await a.save(GUIDE.replace("- and after\n", "- and after\n- and at night\n"));
  await b.save(guide(BUILD, RELEASE, TEST));
  const merged = guide(
    BUILD,
    RELEASE,
    TEST.replace("- and after\n", "- and after\n- and at night\n"),
  );
  expect(await outcome([a, b])).toEqual({ text: merged, told: [] });
});

test("what was written into a section that two others moved apart is told with its copy", async () => {
  const { a, b } = await pair();
  const [c] = await lab.machines(["c"], GUIDE);
  if (!c) throw new Error("there is a third machine");
  await exchange([a, b, c]);
  await c.pass(120_000);
  await a.save(guide(TEST, RELEASE, BUILD));
  await b.save(GUIDE.replace("npm ci\n", "npm ci\nnpm test\n"));
  await c.save(`${BUILD}${guide(TEST, RELEASE)}`);
  await c.receive(b);
  await a.receive(c);
  const { told } = await outcome([a, c]);
  const copies = told.flat().filter((text) => text.includes("npm ci\n"));
  expect(copies.some((text) => text.includes("npm test\n"))).toBeTrue();
});

test("both machines may find at once where a mended line goes, and it stands there once", async () => {
  const { a, b } = await pair();
  await a.save(guide(BUILT, TEST, RELEASE));
  await b.save(MOVED);
  const [ofA, ofB] = [await a.update(), await b.update()];
  await a.load(ofB);
  await b.load(ofA);
  expect(await outcome([a, b])).toEqual({ text: guide(TEST, RELEASE, BUILT), told: [] });
});

/** What the two save, and what stands and is told in the end, for nobody can say what is meant. */
const KEPT: Readonly<
  Record<string, readonly [edited: string, moved: string, told: readonly (readonly string[])[]]>
> = {
  "of which the mover has deleted the line": [
    GUIDE.replace("npm ci", "bun install"),
    MOVED.replace("npm ci\n", ""),
    [["", "bun install\n"]],
  ],
  "that the mover has put at two places": [
    GUIDE.replace("npm ci", "bun install"),
    guide(TEST, BUILD, RELEASE, BUILD),
    [
      ["", "bun install\n"],
      ["", "npm ci\n"],
    ],
  ],
};

for (const [what, [edited, moved, told]] of Object.entries(KEPT)) {
  test(`a mended line of a section ${what} stays where it was, and is told`, async () => {
    const { a, b } = await pair();
    await a.save(edited);
    await b.save(moved);
    const found = await outcome([a, b]);
    expect(found.told).toEqual(expect.arrayContaining([...told]));
    for (const line of ["bun install\n", "npm run build\n"]) expect(found.text).toContain(line);
  });
}

test("a single line that one moved is not taken for what the other has mended", async () => {
  const { a, b } = await pair();
  await a.save(GUIDE.replace("- be quick\n", "- be very quick\n"));
  await b.save(GUIDE.replace("- be quick\n", "").replace("- rest\n", "- rest\n- be quick\n"));
  const { text, told } = await outcome([a, b]);
  expect(text).toContain("- be very quick\n");
  expect(text).toContain("- rest\n- be quick\n");
  expect(told).toEqual([["- be quick\n", "- be very quick\n"]]);
});

test("what each wrote in the place of a section that both moved leaves the section alone", async () => {
  const { a, b } = await pair();
  await a.save(guide("Build by a.\n\n", TEST, BUILD, RELEASE));
  await b.save(guide("Build by b.\n\n", TEST, RELEASE, BUILD));
  const { text } = await outcome([a, b]);
  for (const line of ["Build by a.\n", "Build by b.\n", "npm ci\n", "npm run build\n"]) {
    expect(text).toContain(line);
  }
});

test("a line about which there is a conflict stays where it is when its section is moved", async () => {
  const { a, b } = await pair();
  await a.save(GUIDE.replace("npm ci", "yarn"));
  await b.save(GUIDE.replace("npm ci", "pnpm i"));
  expect((await outcome([a, b])).told).toEqual([["pnpm i\n", "yarn\n"]]);
  for (const each of [a, b]) await each.pass(120_000);
  const both = await a.doc();
  await a.save(both.replace("yarn\n", "bun install\n"));
  const section = both.slice(both.indexOf("## Build"), both.indexOf("## Test"));
  await b.save(both.replace(section, "").replace("## End", `${section}## End`));
  const { text, told } = await outcome([a, b]);
  for (const line of ["bun install\n", "pnpm i\n"]) expect(text).toContain(line);
  expect(told.flat()).toContain("bun install\n");
});
