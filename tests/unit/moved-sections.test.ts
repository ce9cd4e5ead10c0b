import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const TEST = "## Test\n\nUse make test.\nBefore a commit.\nAnd after.\nAlways.\n";
const BUILD = "## Build\n\nUse make.\nThen strip.\n";
const GUIDE = `# Guide\n\n${BUILD}\n${TEST}`;
const MOVED = `# Guide\n\n${TEST}\n${BUILD}`;

const lab = clonesOfEach();

/** Two clones whose document has the section at its end. A's file has it where git has it. */
async function pairWithMoved() {
  const { a, b } = await lab.pair({ [FILE]: GUIDE });
  await b.save(MOVED);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  return { a, b };
}

test("a new clone's edit of a section that others have moved is made where they put it", async () => {
  const { a, b } = await pairWithMoved();
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "c");
  const c = await FollowedMachine.open("c", lab.git.path("c"), lab.git.path("home-c"), lab.git.git);
  await c.receive(a);
  await c.follow();
  expect(c.file()).toBe(GUIDE);
  await c.pass(120_000);
  await c.save(GUIDE.replace("Use make.\n", "Use bun.\n"));
  await exchange([a, b, c]);
  expect(await b.doc()).toBe(MOVED.replace("Use make.\n", "Use bun.\n"));
  await c.pass(120_000);
  await c.save(GUIDE.replace("Use make.\n", "Use bun.\n").replace("Then strip.\n", ""));
  await exchange([a, b, c]);
  expect(await b.doc()).toBe(
    MOVED.replace("Use make.\n", "Use bun.\n").replace("Then strip.\n", ""),
  );
  await c.stop();
});

test("the edit of a clone that was reset to an older commit is made where others put the section", async () => {
  const { a, b } = await lab.pair({ [FILE]: GUIDE });
  await lab.commit(a, `${GUIDE}More.\n`);
  await a.settle();
  await exchange([a, b]);
  await b.save(`${MOVED}More.\n`);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  await lab.run(a, "reset", "-q", "--hard", "HEAD~1");
  await a.settle();
  await a.save(GUIDE.replace("Then strip.\n", ""));
  await exchange([a, b]);
  expect(await b.doc()).not.toContain("Then strip.");
  expect(await b.doc()).toContain("More.\n");
});

test("an edit after the pull of a commit that others read is made where they put the section", async () => {
  const { a, b } = await lab.pair({ [FILE]: GUIDE });
  await lab.commit(b, `${GUIDE}Of b.\n`);
  await b.settle();
  await lab.run(b, "push", "-q");
  await exchange([a, b]);
  await b.save(`# Guide\n\n${TEST}Of b.\n\n${BUILD}`);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  await lab.run(a, "pull", "-q");
  await a.settle();
  await exchange([a, b]);
  await a.save(a.file().replace("Then strip.\n", ""));
  await exchange([a, b]);
  expect(await b.doc()).toBe(`# Guide\n\n${TEST}Of b.\n\n${BUILD.replace("Then strip.\n", "")}`);
});

test("a committed line stands beside an equal one that the document has elsewhere", async () => {
  const { a, b } = await lab.pair({ [FILE]: GUIDE });
  await b.save(`${GUIDE}\n## Deploy\n\nAsk first.\n`);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  const committed = GUIDE.replace("Then strip.\n", "Then strip.\nAsk first.\n").replace(
    "Before a commit.\n",
    "Before a commit.\nAsk first.\n",
  );
  await lab.commit(a, committed);
  await a.settle();
  await exchange([a, b]);
  expect(await b.doc()).toBe(`${committed}\n## Deploy\n\nAsk first.\n`);
});

test("what a commit brings that the document has at that place stands there once", async () => {
  const { a, b } = await lab.pair({ [FILE]: GUIDE });
  const more = GUIDE.replace("Then strip.\n", "Then strip.\nAsk first.\n");
  await b.save(more);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  await lab.commit(a, more);
  await a.settle();
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([more, more]);
});

const JS = "## JS\n\nbuild it:\n\n```\nnpm i\nnpm t\n```\n";
const GO = "## Go\n\ngo this way:\n\n```\ngo build\ngo vet\n```\n";
const END = "## End\n\nthe end\n";
const both = (...sections: string[]) => `# Proj\n\n${sections.join("\n")}`;

/** Both save while neither hears of the other. */
async function saveApart(base: string, ofA: string, ofB: string) {
  const { a, b } = await lab.pair({ "README.md": "x\n" });
  await a.save(base);
  await b.save(base);
  await exchange([a, b]);
  for (const each of [a, b]) await each.pass(120_000);
  await a.save(ofA);
  await b.save(ofB);
  await exchange([a, b]);
  expect(await a.doc()).toBe(await b.doc());
  return { a, b };
}

test("sections that one swaps keep their fences where the other deletes one of them", async () => {
  const swapped = both(GO, JS, END);
  for (const [kept, deleted] of [
    [GO, JS],
    [JS, GO],
  ] as const) {
    const { a } = await saveApart(both(JS, GO, END), swapped, both(kept, END));
    const text = await a.doc();
    expect([deleted, text.includes(kept)]).toEqual([deleted, true]);
    await lab.end();
  }
});

test("swapped sections keep their fences where the other deletes a block", async () => {
  const without = JS.replace("\n```\nnpm i\nnpm t\n```\n", "");
  const { a } = await saveApart(both(JS, GO, END), both(GO, JS, END), both(without, GO, END));
  expect(await a.doc()).toContain(GO);
});

test("parts that rules divide stay divided where one swaps them and the other deletes one", async () => {
  const parts = (...names: string[]) =>
    names.map((each) => `${each} one\n${each} two\n`).join("\n---\n\n");
  const { a } = await saveApart(
    parts("alpha", "bravo", "end"),
    parts("bravo", "alpha", "end"),
    parts("bravo", "end"),
  );
  const text = await a.doc();
  expect(text.match(/^---$/gm)?.length).toBeGreaterThanOrEqual(1);
  expect(text).toMatch(/bravo two\n\n---\n/);
});
