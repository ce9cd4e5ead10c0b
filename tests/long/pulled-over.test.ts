import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, LONG_MS } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- one\n- two\n- three\n\n## End\n\n- last\n";
const OTHERS = START.replace("- two\n", "- two\n- of a\n");
const STALE = START.replace("- last\n", "- last\n- of b\n");

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
});

async function git(...args: string[]): Promise<void> {
  await lab.run(b, ...args);
}

/** What the document has, and how many conflicts each machine lists. */
async function both(): Promise<{ text: string; listed: number }> {
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.settle();
  expect(await b.doc()).toBe(await a.doc());
  expect(await b.listed()).toEqual(await a.listed());
  return { text: await a.doc(), listed: (await a.listed()).length };
}

/** How somebody gets a commit whose line memsync has written into the file already. */
const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  "checkout and pull": async () => {
    await git("checkout", "-q", "--", FILE);
    await git("pull", "-q", "--no-rebase");
  },
  "commit and pull": async () => {
    await git("commit", "-qam", "x");
    await git("pull", "-q", "--no-rebase", "--no-edit");
  },
  "pull with a stash": () => git("pull", "-q", "--rebase", "--autostash"),
  "fetch and reset": async () => {
    await git("fetch", "-q");
    await git("reset", "-q", "--hard", "origin/main");
  },
};

for (const [how, pull] of Object.entries(WAYS)) {
  for (const isLong of [false, true]) {
    const when = isLong ? "a minute later means that" : "at once may not have seen it";
    test(`after ${how} a save without a line that memsync had written before ${when}`, async () => {
      for (const each of [a, b]) await each.follow({ write: true });
      for (const each of [a, b]) await each.pass(LONG_MS);
      await lab.commit(a, OTHERS);
      await lab.run(a, "push", "-q");
      await both();
      expect(b.file()).toBe(OTHERS);
      await pull();
      if (isLong) {
        await both();
        for (const each of [a, b]) await each.pass(LONG_MS);
      }
      b.put(STALE);
      const { text, listed } = await both();
      expect(text).toContain("- of b\n");
      expect({ has: text.includes("- of a\n"), listed }).toEqual({
        has: !isLong,
        listed: isLong ? 0 : 1,
      });
    });
  }
}

for (const [how, pull] of Object.entries(WAYS)) {
  test(`after ${how} a save at once with a line that others have just deleted keeps it`, async () => {
    for (const each of [a, b]) await each.follow({ write: true });
    b.put(`${START}- before of b\n`);
    await both();
    for (const each of [a, b]) await each.pass(LONG_MS);
    await lab.commit(a, OTHERS);
    await lab.run(a, "push", "-q");
    a.put(a.file().replace("- one\n", ""));
    await both();
    expect(b.file()).not.toContain("- one\n");
    await pull();
    b.put(`${STALE}- before of b\n`);
    const { text, listed } = await both();
    for (const line of ["- one\n", "- of a\n", "- of b\n"]) expect(text).toContain(line);
    expect(listed).toBe(2);
  });
}

const PLACE = /<{7} .*\n([\s\S]*?)={7}\n([\s\S]*?)>{7} .*\n/;

for (const [whose, kept, hasLooked, isSettling] of [
  ["one's own side is kept", "$1", true, false],
  ["one's own side is kept, and nobody looked before", "$1", false, false],
  ["one's own side is kept in pieces", "$1", true, true],
  ["the other side is kept", "$2", true, false],
] as const) {
  test(`a line that is typed beside git's marks arrives where ${whose}`, async () => {
    await lab.commit(a, START.replace("two", "two of a"));
    await lab.run(a, "push", "-q");
    // b knows of that commit, and its file has none of it.
    await both();
    await lab.commit(b, START.replace("two", "two of b"));
    await both();
    await lab.git.runToFailure(b.dir, "pull", "-q", "--no-rebase");
    if (hasLooked) await b.settle();
    // A conflict may be settled piece by piece.
    const more = isSettling ? b.file().replace("- two of b\n", "") : b.file();
    await b.save(`${more}- typed\n`);
    await b.save(b.file().replace(PLACE, kept));
    await git("add", FILE);
    await git("commit", "-q", "--no-edit");
    expect((await both()).text).toContain("- typed\n");
  });
}

const SAVED = START.replace("two", "two of b");
const MENDED = START.replace("two", "two of a").replace("- last\n", "- last\n- tail of a\n");

for (const how of ["--rebase", "--no-rebase"]) {
  /** b's own commit conflicts with a's, and nobody looks before it is settled by this text. */
  const settleBy = async (text: (marked: string) => string) => {
    for (const each of [a, b]) await each.follow({ write: true });
    for (const each of [a, b]) await each.pass(LONG_MS);
    await lab.commit(b, SAVED);
    await b.settle();
    await lab.commit(a, MENDED);
    await lab.run(a, "push", "-q");
    await lab.git.runToFailure(b.dir, "pull", "-q", how);
    await lab.git.write(join(b.dir, FILE), text(b.file()));
    await a.settle();
    await exchange([a, b]);
    await git("add", FILE);
    if (how === "--rebase") await git("-c", "core.editor=true", "rebase", "--continue");
    else await git("commit", "-q", "--no-edit");
    return await both();
  };

  test(`an editor from before has not read marks that nobody saw, ${how}`, async () => {
    const { text, listed } = await settleBy(() => `${SAVED}- typed\n`);
    for (const line of ["- two of a\n", "- two of b\n", "- tail of a\n", "- typed\n"])
      expect(text).toContain(line);
    expect(listed).toBeGreaterThan(0);
  });

  test(`who keeps both sides has read marks that nobody saw, ${how}`, async () => {
    const { text } = await settleBy((marked) => marked.replace(PLACE, "$1$2"));
    for (const line of ["- two of a\n", "- two of b\n", "- tail of a\n"])
      expect(text).toContain(line);
    expect(text.match(/two of/g)).toHaveLength(2);
  });

  if (how === "--no-rebase") {
    test("who keeps the other side of a merge has read marks that nobody saw", async () => {
      expect(await settleBy((marked) => marked.replace(PLACE, "$2"))).toEqual({
        text: MENDED,
        listed: 0,
      });
    });
  }
}
