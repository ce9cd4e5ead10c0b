import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, LONG_MS } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\nBuild with make.\n\nTest with make test.\n\nShip it.\n";
/** A line that nobody can have written who has not read both. */
const MADE_OF_BOTH = "mine and the committed one";
const version = (tool: string) => START.replace("with make.", `with ${tool}.`);
const [MINE, COMMITTED, BOTH] = [
  version("mine"),
  version("the committed one"),
  version(MADE_OF_BOTH),
];

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
});

async function git(...args: string[]): Promise<void> {
  await lab.run(a, ...args);
}

/** What the document has, and how many conflicts each machine lists. */
async function both(): Promise<{ text: string; listed: number }> {
  await a.settle();
  await exchange([a, b]);
  expect(await b.doc()).toBe(await a.doc());
  const [here, there] = [await a.listed(), await b.listed()];
  expect(there).toEqual(here);
  return { text: await a.doc(), listed: here.length };
}

/** What comes into the file between `stash` and `stash pop`, so that they conflict. */
const BETWEEN: Readonly<Record<string, () => Promise<void>>> = {
  "a commit": () => lab.commit(a, COMMITTED),
  "a pull": async () => {
    await lab.commit(b, COMMITTED);
    await b.settle();
    await lab.run(b, "push", "-q");
    await git("pull", "-q");
  },
};

/** Ends with the marks of a conflict in the file. */
async function popIntoConflict(between: () => Promise<void>): Promise<void> {
  await a.save(MINE);
  await both();
  await git("stash", "-q");
  await both();
  await between();
  expect((await both()).listed).toBe(1);
  await lab.git.runToFailure(a.dir, "stash", "pop", "-q");
  expect(a.file()).toContain("<<<<<<< ");
  const { text, listed } = await both();
  expect(listed).toBe(1);
  expect(text).not.toContain("<<<<<<<");
}

/** How somebody ends that, and what becomes of it. */
const ENDS: Readonly<Record<string, readonly [() => Promise<void>, string]>> = {
  "their own line": [
    async () => {
      await a.save(MINE);
      await git("add", FILE);
    },
    MINE,
  ],
  "a line made of both": [
    async () => {
      await a.save(BOTH);
      // The machine sees it before git's conflict is over.
      await both();
      await git("reset", "-q");
    },
    BOTH,
  ],
  "a line made of both, staged with the marks before": [
    async () => {
      await git("add", FILE);
      expect((await both()).text).not.toContain("<<<<<<<");
      await a.save(BOTH);
    },
    BOTH,
  ],
};

for (const [what, between] of Object.entries(BETWEEN)) {
  for (const [how, [end, text]] of Object.entries(ENDS)) {
    test(`a stash that conflicts with ${what} is one conflict, settled everywhere by ${how}`, async () => {
      await popIntoConflict(between);
      // Else an editor from before the stash may not have seen what came since.
      for (const each of [a, b]) await each.pass(LONG_MS);
      await end();
      expect(await both()).toEqual({ text, listed: 0 });
      await git("stash", "drop", "-q");
      await a.save(`${text}\nMore.\n`);
      expect(await both()).toEqual({ text: `${text}\nMore.\n`, listed: 0 });
    });
  }

  test(`a stash that conflicts with ${what}, and is given up, stays in the document as one conflict`, async () => {
    await popIntoConflict(between);
    await git("reset", "-q", "--hard");
    const { text, listed } = await both();
    expect(listed).toBe(1);
    for (const tool of ["mine", "the committed one"]) expect(text).toContain(`with ${tool}.`);
  });
}

/** What somebody writes right after, before the machine has looked. */
const EDITED = `${COMMITTED}\nMore.\n`;

/** How somebody gives up, and edits the file at once. */
const GIVEN_UP: Readonly<Record<string, () => Promise<void>>> = {
  "": async () => {
    await git("reset", "-q", "--hard");
    await a.save(EDITED);
  },
  " and stages that": async () => {
    await git("reset", "-q", "--hard");
    await a.save(EDITED);
    await git("add", FILE);
  },
};

for (const [also, giveUp] of Object.entries(GIVEN_UP)) {
  test(`who gives up a stash that conflicts, and edits at once${also}, has settled nothing`, async () => {
    await popIntoConflict(() => lab.commit(a, COMMITTED));
    await giveUp();
    const { text, listed } = await both();
    for (const tool of ["mine", "the committed one"]) expect(text).toContain(`with ${tool}.`);
    expect(text).toContain("More.");
    expect(listed).toBeGreaterThan(0);
  });
}

test("a line that was stashed beside what conflicts stays where the pop is given up with an edit", async () => {
  await a.save(`${MINE}\nAlone.\n`);
  await both();
  await git("stash", "-q");
  await both();
  await lab.commit(a, COMMITTED);
  await both();
  await lab.git.runToFailure(a.dir, "stash", "pop", "-q");
  await both();
  await git("reset", "-q", "--hard");
  await a.save(EDITED);
  const { text, listed } = await both();
  for (const line of ["with mine.", "Alone.", "More."]) expect(text).toContain(line);
  expect(listed).toBeGreaterThan(0);
});

test("a merge that is aborted with an edit at once settles nothing of the branch", async () => {
  await git("checkout", "-q", "-b", "feature");
  await a.save(`${MINE}\nAlone.\n`);
  await git("commit", "-q", "-am", "feature");
  await git("checkout", "-q", "main");
  await both();
  await a.save(`${START}\nAlone.\n`);
  await both();
  await git("stash", "-q");
  await both();
  await lab.commit(a, COMMITTED);
  await both();
  await lab.git.runToFailure(a.dir, "merge", "-q", "feature");
  await both();
  await git("merge", "--abort");
  await a.save(EDITED);
  const { text } = await both();
  for (const line of ["Alone.", "More."]) expect(text).toContain(line);
});

const TWO = `${START}\n## More\n\nAsk first.\n`;
const twoPlaces = (tool: string, more = "") => `${version(tool)}\n## More\n\n${more}Ask first.\n`;

/** A stash of two places, of which one conflicts. Ends with the marks in the file. */
async function popTwoPlaces(): Promise<void> {
  await lab.commit(a, TWO);
  await both();
  await a.save(twoPlaces("mine", "Alone.\n"));
  await both();
  await git("stash", "-q");
  await both();
  await lab.commit(a, twoPlaces("the committed one"));
  await both();
  await lab.git.runToFailure(a.dir, "stash", "pop", "-q");
  await both();
}

/** What somebody makes of the place that conflicts. */
const MADE = ["mine", MADE_OF_BOTH];

for (const made of MADE) {
  test(`a stash of two places, of which one conflicts, is settled everywhere by "${made}"`, async () => {
    await popTwoPlaces();
    const text = twoPlaces(made, "Alone.\n");
    await a.save(text);
    await git("reset", "-q");
    expect(await both()).toEqual({ text, listed: 0 });
  });
}

/** What somebody has in an editor that was opened before the marks stood in the file. */
const BUFFERS: Readonly<Record<string, string>> = {
  "what was committed, and more": EDITED,
  "a line in its place that says nothing of either": version("neither"),
};

for (const [what, buffer] of Object.entries(BUFFERS)) {
  for (const ending of [
    ["add", FILE],
    ["reset", "-q"],
  ]) {
    test(`who saves ${what} over git's marks, and ends that with git ${ending[0]}, may not have read them`, async () => {
      await popIntoConflict(() => lab.commit(a, COMMITTED));
      await a.save(buffer);
      await both();
      await git(...ending);
      const { text, listed } = await both();
      expect(text).toContain("with mine.");
      for (const line of buffer.trimEnd().split("\n")) expect(text).toContain(line);
      expect(listed).toBe(1);
      // One command has it as it was saved.
      const [id] = await a.listed();
      const conflict = (await a.conflicts()).find((each) => each.id === id);
      const own = conflict?.versions.find((each) => !each.text.includes("with mine."));
      await a.drain(await a.choiceOf(own?.text ?? "none", conflict?.id));
      expect(await both()).toEqual({ text: buffer, listed: 0 });
      expect(a.file()).toBe(buffer);
    });
  }
}

/** What an editor has that was opened before the stash, with what was typed there since. */
const FROM_BEFORE: Readonly<Record<string, string>> = {
  "what was stashed": MINE,
  "what was stashed, and more": `${MINE}\nMore.\n`,
  "what was stashed, mended": version("mine, always"),
};

for (const [what, buffer] of Object.entries(FROM_BEFORE)) {
  for (const isLong of [false, true]) {
    const when = isLong ? "a minute later" : "at once";
    test(`who saves ${what} over git's marks ${when} ${isLong ? "means that" : "may not have seen what was pulled"}`, async () => {
      await popIntoConflict(() => BETWEEN["a pull"]?.() ?? Promise.reject(new Error("no pull")));
      if (isLong) for (const each of [a, b]) await each.pass(LONG_MS);
      a.put(buffer);
      await a.settle();
      await git("add", FILE);
      const { text, listed } = await both();
      for (const line of buffer.trimEnd().split("\n")) expect(text).toContain(line);
      if (isLong) expect({ text, listed }).toEqual({ text: buffer, listed: 0 });
      else {
        expect(text).toContain("with the committed one.");
        expect(listed).toBe(1);
      }
    });
  }
}

/** What was stashed in the line below the one that is pulled, and what stood there before. */
const NEAR = START.replace("make.\n\n", "make.\n");
const NEAR_MINE = NEAR.replace("make test", "mine");

for (const [what, buffer] of Object.entries({ "the stash": NEAR_MINE, "what was stashed": NEAR })) {
  test(`an editor from before ${what} has not read a pulled line that git shows beside it`, async () => {
    await lab.commit(a, NEAR);
    await git("push", "-q");
    await lab.run(b, "pull", "-q");
    await both();
    for (const each of [a, b]) await each.pass(LONG_MS);
    await a.save(NEAR_MINE);
    await both();
    await git("stash", "-q");
    await both();
    await lab.commit(b, NEAR.replace("with make.", "by theirs."));
    await b.settle();
    await lab.run(b, "push", "-q");
    await git("pull", "-q");
    await both();
    await lab.git.runToFailure(a.dir, "stash", "pop", "-q");
    // git shows both lines of either side: the two were changed side by side.
    expect(a.file()).toContain("make.\nTest with mine.\n>>>>>>>");
    await both();
    await a.save(`${buffer}\nMore.\n`);
    await git("add", FILE);
    const { text, listed } = await both();
    for (const line of ["by theirs.", "Build with make.", "Test with mine.", "More."])
      expect(text).toContain(line);
    expect(listed).toBeGreaterThan(0);
    // What the file alone has is told.
    const told = (await a.conflicts()).flatMap(({ versions }) => versions.map((each) => each.text));
    for (const line of await a.alone()) expect(told.join("")).toContain(line);
  });
}

test("of a stash of two places who has just what was committed at the one keeps what was set aside", async () => {
  await popTwoPlaces();
  await a.save(twoPlaces("the committed one", "Alone.\n"));
  await git("reset", "-q");
  const { text, listed } = await both();
  for (const line of ["with mine.", "with the committed one.", "Alone."])
    expect(text).toContain(line);
  expect(text.match(/Alone/g)).toHaveLength(1);
  expect(listed).toBeGreaterThan(0);
});

for (const isSeen of [true, false]) {
  const when = isSeen ? "with a look before the index is reset" : "at once";
  test(`what git had shown before the daemon was started anew is settled in the file, ${when}`, async () => {
    await popTwoPlaces();
    const text = twoPlaces(MADE_OF_BOTH, "Alone.\n");
    if (isSeen) await a.save(text);
    await a.stop();
    a = await lab.open("a");
    if (!isSeen) await a.save(text);
    await git("reset", "-q");
    await a.follow();
    expect(await both()).toEqual({ text, listed: 0 });
  });
}

test("what others made of a stashed line meanwhile stays beside what is settled in the file", async () => {
  await popTwoPlaces();
  await b.setDoc((await b.doc()).replace("Alone.", "Not alone."));
  await both();
  await a.save(twoPlaces(MADE_OF_BOTH));
  await both();
  await git("reset", "-q");
  const text = twoPlaces(MADE_OF_BOTH, "Not alone.\n");
  expect(await both()).toEqual({ text, listed: 0 });
});

test("marks that git has not made, or that are committed, are text like any other", async () => {
  const marked = `${START}\n<<<<<<< one\nOne.\n=======\nTwo.\n>>>>>>> two\n`;
  await a.save(marked);
  expect(await both()).toEqual({ text: marked, listed: 0 });
});
