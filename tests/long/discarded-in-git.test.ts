import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bothHaveAll, clonesOfEach, FILE } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- one\n- two\n\n## Test\n\n- make test\n\n## Ship\n\n- ship\n";
const THEIRS = "- lint first\n";
const OWN = "- ask Ann\n";
const MORE = "- tell Ben\n";
const GONE = "- make test\n";
const WITH_THEIRS = START.replace("- two\n", `- two\n${THEIRS}`);
const WITHOUT_GONE = START.replace(GONE, "");

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
  await a.follow({ write: true });
});

async function git(...args: string[]): Promise<void> {
  await lab.run(a, ...args);
}

const both = () => bothHaveAll({ a, b });

/** B saves a text that A's file gets, where nobody commits it. */
async function written(text: string): Promise<void> {
  await b.save(text);
  expect((await both()).text).toBe(text);
  expect(a.file()).toBe(text);
}

/** A commit of somebody else, who has not memsync, in another file and in this one. */
async function committedElsewhere(): Promise<string> {
  const other = lab.git.path("other");
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "other");
  const text = START.replace("- ship\n", "- ship on Monday\n");
  await lab.git.write(join(other, FILE), text);
  await lab.git.run(other, "commit", "-qam", "theirs");
  await lab.git.run(other, "push", "-q", "origin", "main");
  return text;
}

const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  "git checkout": () => git("checkout", "-q", "--", FILE),
  "git restore": () => git("restore", FILE),
  "a hard reset": () => git("reset", "-q", "--hard"),
  "a stash that is dropped": async () => {
    await git("stash", "-q");
    await git("stash", "drop", "-q");
  },
};

for (const [way, discard] of Object.entries(WAYS)) {
  test(`what others wrote and nobody committed stays after ${way}, and is told`, async () => {
    await written(WITH_THEIRS);
    await discard();
    expect(await both()).toEqual({ text: WITH_THEIRS, listed: 1 });
    // So that a pull is possible.
    expect(a.file()).toBe(START);
    await b.drain(await b.choiceOf(""));
    expect(await both()).toEqual({ text: START, listed: 0 });
  });

  test(`what others deleted and nobody committed stays deleted after ${way}, and is told`, async () => {
    await written(WITHOUT_GONE);
    await discard();
    expect(await both()).toEqual({ text: WITHOUT_GONE, listed: 1 });
    expect(a.file()).toBe(START);
    await b.drain(await b.choiceOf(GONE));
    expect(await both()).toEqual({ text: START, listed: 0 });
  });

  test(`what was saved here is undone everywhere by ${way}`, async () => {
    await a.save(START.replace("- two\n", `- two\n${OWN}`).replace(GONE, ""));
    await both();
    await discard();
    expect(await both()).toEqual({ text: START, listed: 0 });
  });
}

const BOTH_PLACES = WITH_THEIRS.replace("- ship\n", `- ship\n${MORE}`);
const ONE_PLACE = BOTH_PLACES.replace(THEIRS, "");

/** Of two places that `git checkout -p` asks about, the first is discarded, in the file alone. */
async function discardFirst(text: string, ...args: string[]): Promise<void> {
  await written(text);
  const command = ["git checkout -p", ...args].join(" ");
  await lab.git.start(a.dir, `printf 'y\\nn\\ny\\n' | ${command}`).done;
}

for (const from of ["", "HEAD"]) {
  test(`what others wrote stays where git checkout -p ${from} discards it, and is told`, async () => {
    await discardFirst(BOTH_PLACES, from, "--", FILE);
    expect(a.file()).toBe(ONE_PLACE);
    expect(await both()).toEqual({ text: BOTH_PLACES, listed: 1 });
    expect(a.file()).toBe(ONE_PLACE);
    await a.drain(await a.choiceOf(""));
    expect(await both()).toEqual({ text: ONE_PLACE, listed: 0 });
    expect(a.file()).toBe(ONE_PLACE);
  });
}

test("what others deleted stays deleted where git checkout -p puts it back, and is told", async () => {
  const text = BOTH_PLACES.replace(THEIRS, "").replace("- two\n", "");
  await discardFirst(text, "--", FILE);
  expect(await both()).toEqual({ text, listed: 1 });
  expect(a.file()).toBe(ONE_PLACE);
  await a.drain(await a.choiceOf("- two\n"));
  expect(await both()).toEqual({ text: ONE_PLACE, listed: 0 });
});

test("what was saved here is undone everywhere by git checkout -p", async () => {
  await a.save(BOTH_PLACES);
  await both();
  await lab.git.start(a.dir, `printf 'y\\nn\\n' | git checkout -p -- ${FILE}`).done;
  expect(await both()).toEqual({ text: ONE_PLACE, listed: 0 });
});

test("whoever deletes one of others' lines in an editor means it", async () => {
  await written(BOTH_PLACES);
  await a.save(ONE_PLACE);
  expect(await both()).toEqual({ text: ONE_PLACE, listed: 0 });
});

test("whoever deletes more than others' lines beside a write of git's index means it", async () => {
  await written(BOTH_PLACES);
  const text = ONE_PLACE.replace("- ship\n", "");
  writeFileSync(join(a.dir, FILE), text);
  await lab.git.write(join(a.dir, "other"), "x");
  await git("add", "other");
  expect(await both()).toEqual({ text, listed: 0 });
});

const EDITED = (text: string) => text.replace("- ship\n", "- ship on Monday\n");

for (const [way, discard] of Object.entries(WAYS)) {
  for (const [then, end] of [
    ["an edit", async () => {}],
    ["an edit and a commit", () => git("commit", "-qam", "edit")],
  ] as const) {
    test(`what others wrote and deleted stays after ${way} and ${then}, all in one go`, async () => {
      const text = WITH_THEIRS.replace(GONE, "");
      await written(text);
      await discard();
      writeFileSync(join(a.dir, FILE), EDITED(START));
      await end();
      const { text: now, listed } = await both();
      expect(now).toBe(EDITED(text));
      expect(listed).toBeGreaterThan(0);
      expect(a.file()).toBe(EDITED(START));
    });
  }

  test(`what others wrote alone stays after ${way} and an edit in one go`, async () => {
    await written(WITH_THEIRS);
    await discard();
    writeFileSync(join(a.dir, FILE), EDITED(START));
    expect(await both()).toEqual({ text: EDITED(WITH_THEIRS), listed: 1 });
    expect(a.file()).toBe(EDITED(START));
  });
}

/** When A's file was written, as a file system says whose clock stands still meanwhile. */
function writtenAt(): number {
  return statSync(join(a.dir, FILE)).mtimeMs / 1000;
}

test("what others wrote stays after a discard and an edit within a tick of the file system's clock", async () => {
  await written(WITH_THEIRS);
  await git("checkout", "-q", "--", FILE);
  const at = writtenAt();
  writeFileSync(join(a.dir, FILE), EDITED(START));
  utimesSync(join(a.dir, FILE), at, at);
  expect(await both()).toEqual({ text: EDITED(WITH_THEIRS), listed: 1 });
});

test("what others wrote stays after a discard within a tick of its arrival, and an edit", async () => {
  await written(WITH_THEIRS);
  const at = writtenAt();
  await git("checkout", "-q", "--", FILE);
  utimesSync(join(a.dir, FILE), at, at);
  await git("update-index", "--refresh");
  writeFileSync(join(a.dir, FILE), EDITED(START));
  expect(await both()).toEqual({ text: EDITED(WITH_THEIRS), listed: 1 });
});

test("whoever puts a text back as it was committed in an editor, with an edit, means it", async () => {
  await written(WITH_THEIRS.replace(GONE, ""));
  writeFileSync(join(a.dir, FILE), EDITED(START));
  expect(await both()).toEqual({ text: EDITED(START), listed: 0 });
});

test("whoever has staged a text and then deletes what others wrote means it", async () => {
  await written(WITH_THEIRS.replace(GONE, ""));
  await git("add", FILE);
  writeFileSync(join(a.dir, FILE), EDITED(START));
  expect(await both()).toEqual({ text: EDITED(START), listed: 0 });
});

test("of what git discards, what others wrote stays, and what was saved here does not", async () => {
  await written(WITH_THEIRS);
  await a.save(WITH_THEIRS.replace("- ship\n", `- ship\n${OWN}`));
  await both();
  await git("checkout", "-q", "--", FILE);
  expect(await both()).toEqual({ text: WITH_THEIRS, listed: 1 });
});

for (const [how, text] of [
  ["moved", START.replace("- ship\n", `- ship\n${THEIRS}`)],
  ["indented", WITH_THEIRS.replace(THEIRS, `  ${THEIRS}`)],
  ["mended", WITH_THEIRS.replace(THEIRS, "- lint first, then build\n")],
] as const) {
  test(`what others wrote, and this machine has ${how}, stays after git checkout, and is told`, async () => {
    await written(WITH_THEIRS);
    await a.save(text);
    expect((await both()).text).toBe(text);
    await git("checkout", "-q", "--", FILE);
    expect(await both()).toEqual({ text, listed: 1 });
    expect(a.file()).toBe(START);
  });
}

test("what others wrote, and this machine has chosen, stays when git checkout discards it again", async () => {
  const text = START.replace("- two\n", `- two, theirs\n${THEIRS}`);
  await written(text);
  await git("checkout", "-q", "--", FILE);
  await both();
  await a.drain(await a.choiceOf(`- two, theirs\n${THEIRS}`));
  expect(await both()).toEqual({ text, listed: 0 });
  await git("checkout", "-q", "--", FILE);
  expect(await both()).toEqual({ text, listed: 1 });
});

test("what this machine made of a line that others committed is undone everywhere by git checkout", async () => {
  await lab.commit(b, WITH_THEIRS);
  await b.settle();
  await lab.run(b, "push", "-q");
  await git("pull", "-q");
  await both();
  await a.save(WITH_THEIRS.replace(THEIRS, "- lint first, then build\n"));
  await both();
  await git("checkout", "-q", "--", FILE);
  expect(await both()).toEqual({ text: WITH_THEIRS, listed: 0 });
});

test("what was saved here is undone by git checkout though the log no longer says who saved it", async () => {
  await a.save(START.replace("- two\n", `- two\n${OWN}`));
  await both();
  await a.forgetLog();
  await git("checkout", "-q", "--", FILE);
  expect(await both()).toEqual({ text: START, listed: 0 });
});

test("what others wrote stays where their machine has the same name as this one", async () => {
  await lab.end();
  ({ a, b } = await lab.pair({ [FILE]: START }, "macbook"));
  await a.follow({ write: true });
  await written(WITH_THEIRS);
  await git("checkout", "-q", "--", FILE);
  expect((await both()).text).toBe(WITH_THEIRS);
});

test("the file gets the lines of others again once somebody chooses them", async () => {
  await written(WITH_THEIRS);
  await git("checkout", "-q", "--", FILE);
  await both();
  await b.drain(await b.choiceOf(THEIRS));
  expect(await both()).toEqual({ text: WITH_THEIRS, listed: 0 });
  expect(a.file()).toBe(WITH_THEIRS);
});

/** Of these git's index says nothing, and so it is where somebody types just that text. */
const PAST_THE_INDEX: Readonly<Record<string, () => Promise<unknown>>> = {
  "git restore with a source": () => git("restore", "--source=HEAD", FILE),
  "git restore with a branch as its source": () => git("restore", "--source=origin/main", FILE),
  "git checkout-index": () => git("checkout-index", "-f", FILE),
  "git show into the file": () => lab.git.start(a.dir, `git show HEAD:${FILE} > ${FILE}`).done,
  "a patch that is applied in reverse": () => lab.git.start(a.dir, "git diff | git apply -R").done,
  "an editor with the committed text": async () => writeFileSync(join(a.dir, FILE), START),
};

for (const [way, put] of Object.entries(PAST_THE_INDEX)) {
  test(`what others wrote and deleted stays as they have it after ${way}, and is told`, async () => {
    const text = WITH_THEIRS.replace(GONE, "");
    await written(text);
    await put();
    expect(a.file()).toBe(START);
    expect(await both()).toEqual({ text, listed: 2 });
    expect(a.file()).toBe(START);
    await a.drain(await a.choiceOf(""));
    await b.drain(await b.choiceOf(GONE));
    expect(await both()).toEqual({ text: START, listed: 0 });
    expect(a.file()).toBe(START);
  });

  test(`what was saved here is undone everywhere by ${way}`, async () => {
    await a.save(START.replace("- two\n", `- two\n${OWN}`).replace(GONE, ""));
    await both();
    await put();
    expect(await both()).toEqual({ text: START, listed: 0 });
  });
}

test("what others wrote stays after git restore from an older commit, and is told", async () => {
  const later = START.replace("- ship\n", "- ship on Monday\n");
  await lab.commit(a, later);
  await both();
  await written(later.replace("- two\n", `- two\n${THEIRS}`));
  await git("restore", "--source=HEAD~1", FILE);
  expect(await both()).toEqual({ text: WITH_THEIRS, listed: 1 });
  expect(a.file()).toBe(START);
});

test("what others wrote stays after git restore with a source where git makes CRLF", async () => {
  await git("config", "core.autocrlf", "true");
  await written(WITH_THEIRS);
  await git("restore", "--source=HEAD", FILE);
  expect(await both()).toEqual({ text: WITH_THEIRS, listed: 1 });
});

test("whoever types an older commit's text and commits that means it", async () => {
  const later = START.replace("- ship\n", "- ship on Monday\n");
  await lab.commit(a, later);
  await both();
  await written(later.replace("- two\n", `- two\n${THEIRS}`));
  await lab.commit(a, START);
  expect(await both()).toEqual({ text: START, listed: 0 });
});

test("whoever deletes others' lines and commits something means it", async () => {
  await written(WITH_THEIRS);
  await lab.commit(a, `${START}\nMore.\n`);
  expect(await both()).toEqual({ text: `${START}\nMore.\n`, listed: 0 });
});

for (const [way, pull] of [
  ["a hard reset to what was fetched", ["reset -q --hard origin/main"]],
  ["a checkout and a pull, one right after the other", [`checkout -q -- ${FILE}`, "pull -q"]],
] as const) {
  test(`what others wrote and nobody committed stays after ${way}`, async () => {
    await written(WITH_THEIRS.replace(GONE, ""));
    const pulled = await committedElsewhere();
    await git("fetch", "-q");
    for (const each of pull) await git(...each.split(" "));
    const { text, listed } = await both();
    expect(text).toBe(pulled.replace("- two\n", `- two\n${THEIRS}`).replace(GONE, ""));
    expect(listed).toBeGreaterThan(0);
    expect(a.file()).toBe(pulled);
  });
}

for (const [way, pull] of [
  ["a hard reset", ["reset", "-q", "--hard", "origin/main"]],
  ["a forced checkout", ["checkout", "-q", "-f", "-B", "main", "origin/main"]],
] as const) {
  test(`what was saved here stays after ${way} that brings what was here, and is told`, async () => {
    await written(WITH_THEIRS);
    await lab.run(b, "commit", "-qam", "theirs");
    await b.settle();
    await lab.run(b, "push", "-q");
    const text = WITH_THEIRS.replace("- ship\n", `- ship\n${OWN}`);
    await a.save(text);
    expect((await both()).text).toBe(text);
    await git("fetch", "-q");
    await git(...pull);
    expect(await both()).toEqual({ text, listed: 1 });
    // So that git goes on.
    expect(a.file()).toBe(WITH_THEIRS);
    await a.drain(await a.choiceOf(""));
    expect(await both()).toEqual({ text: WITH_THEIRS, listed: 0 });
    expect(a.file()).toBe(WITH_THEIRS);
  });

  test(`what others wrote beside their commit stays after ${way}, and is told`, async () => {
    await written(WITH_THEIRS);
    await lab.run(b, "commit", "-qam", "theirs");
    await b.settle();
    await lab.run(b, "push", "-q");
    const text = WITH_THEIRS.replace("- ship\n", `- ship\n${MORE}`);
    await written(text);
    await git("fetch", "-q");
    await git(...pull);
    expect(await both()).toEqual({ text, listed: 1 });
    expect(a.file()).toBe(WITH_THEIRS);
  });
}
