import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, LONG_MS } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- one\n- two\n- three\n\n## End\n\n- last\n";
const LINE = "- two of a\n";

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
  for (const each of [a, b]) await each.pass(LONG_MS);
});

async function both(): Promise<string> {
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  for (const each of [a, b]) await each.settle();
  expect(await b.doc()).toBe(await a.doc());
  return await a.doc();
}

async function push(text: string): Promise<void> {
  await lab.commit(a, text);
  await a.settle();
  await lab.run(a, "push", "-q");
  await both();
}

/** b has pulled a line of a's and committed a text of before: its deletion is in question. */
async function putInQuestion(): Promise<void> {
  await push(START.replace("- two\n", `- two\n${LINE}`));
  await lab.run(b, "pull", "-q", "--rebase");
  await b.settle();
  await lab.commit(b, `${START}- of b\n`);
  expect(await both()).toContain(LINE);
  expect(await a.listed()).toHaveLength(1);
  for (const each of [a, b]) await each.pass(LONG_MS);
}

const ANSWERS: Readonly<Record<string, () => Promise<void>>> = {
  "is in question": async () => {},
  "was in question, and both texts were kept": async () => {
    const [id] = await a.listed();
    await a.dismiss(id ?? "");
  },
};

for (const [what, answer] of Object.entries(ANSWERS)) {
  for (const hasLooked of [true, false]) {
    const how = hasLooked ? "a pull that was seen" : "a pull, and a commit at once,";
    test(`${how} does not delete a line whose deletion ${what}`, async () => {
      await putInQuestion();
      await answer();
      const listed = await a.listed();
      await push(a.file().replace("# Guide\n", "# Guide\n\n- beside\n"));
      await lab.run(b, "pull", "-q", "--no-rebase", "--no-edit");
      if (hasLooked) await b.settle();
      else await lab.commit(b, `${b.file()}- more of b\n`);
      expect(await both()).toContain(LINE);
      expect(await a.listed()).toEqual(listed);
      expect(await a.doc()).toContain("- beside\n");
    });
  }
}

test("a line that others have deleted, and nobody asks about, goes with the pull", async () => {
  await push(START.replace("- two\n", `- two\n${LINE}`));
  const other = lab.git.path("other");
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "other");
  await lab.git.commit(other, { [FILE]: START });
  await lab.git.run(other, "push", "-q");
  await lab.run(b, "pull", "-q", "--rebase");
  expect(await both()).toBe(START);
  expect(await a.listed()).toEqual([]);
});
