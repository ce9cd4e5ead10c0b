import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const block = (command: string, mark = "```sh") => `${mark}\n${command}\n\`\`\`\n`;
const OLD = block("npm run docs\nnpm run retry");
const TEST = "# G\n\n## Test\n\n- one\n- two\n\n";
const BASE = `${TEST}## Run\n\n${OLD}\nSee below.\n\n## Deploy\n\n- api\n`;
const [OURS, THEIRS] = [block("npm run token"), block("npm run queue")];

const below = (line: string, text: string) => (base: string) =>
  base.replace(`${line}\n`, `${line}\n\n${text}`);
const put = (text: string, by: string) => (base: string) => base.replace(text, by);
const atEnd = (text: string) => below("See below.", text)(BASE);
const atTop = below("## Run", `${OURS}`)(BASE);
const RENAMED = put("## Deploy", "## Ship")(BASE);
const GONE = put(`${OLD}\n`, "")(BASE);
const MORE = put("retry\n", "retry\nnpm run token\n")(BASE);

const lab = foldersOfEach();

/** What two machines save, the second from a buffer of before; and what either version leaves. */
const BLOCKS: Readonly<
  Record<string, readonly [ours: string, theirs: string, choices: Record<string, string>]>
> = {
  "at a section's end, where the save renames the next heading": [
    atEnd(OURS),
    RENAMED,
    { "": RENAMED, [OURS]: put("## Deploy", "## Ship")(atEnd(OURS)) },
  ],
  "at a section's end, where the save renames the next heading and writes below it": [
    atEnd(OURS),
    put("- api", "- new\n- api")(RENAMED),
    {
      "": put("- api", "- new\n- api")(RENAMED),
      [OURS]: put("- api", "- new\n- api")(put("## Deploy", "## Ship")(atEnd(OURS))),
    },
  ],
  "where the save has another block": [
    atEnd(OURS),
    atEnd(THEIRS),
    { [THEIRS]: atEnd(THEIRS), [OURS]: atEnd(OURS) },
  ],
  "where the save has a block of another kind": [
    atEnd(OURS),
    atEnd(block("npm run queue", "```")),
    { [block("npm run queue", "```")]: atEnd(block("npm run queue", "```")), [OURS]: atEnd(OURS) },
  ],
  "above another one that the save rewrites": [
    atTop,
    put("npm run docs\nnpm run retry", "npm run all")(BASE),
    {
      "": put("npm run docs\nnpm run retry", "npm run all")(BASE),
      [OURS]: put("npm run docs\nnpm run retry", "npm run all")(atTop),
    },
  ],
  "above another one that the save deletes": [
    atTop,
    GONE,
    { "": GONE, [OURS]: below("## Run", `${OURS}`)(GONE) },
  ],
  "above another one that the save gives another kind": [
    atTop,
    put("```sh", "```bash")(BASE),
    {
      "": put("```sh", "```bash")(BASE),
      [OURS]: put("```sh\nnpm run docs", "```bash\nnpm run docs")(atTop),
    },
  ],
};

for (const [what, [ours, theirs, choices]] of Object.entries(BLOCKS)) {
  test(`a block that another machine wrote stays one: ${what}`, async () => {
    const { b, told } = await staleSave(ours, theirs);
    expect(told.toSorted()).toEqual(Object.keys(choices).toSorted());
    for (const line of [...OURS.split("\n"), ...OLD.split("\n")]) {
      if (theirs.includes(line) || OURS.includes(line)) expect(b.file()).toContain(line);
    }
    expect(b.file()).toContain(OURS);
    for (const [version, becomes] of Object.entries(choices))
      expect(withoutBlanks(await chosenText(b, version))).toBe(withoutBlanks(becomes));
  });
}

test("a line that another machine wrote in a block stays in one where the save deletes that", async () => {
  for (const theirs of [GONE, put(`## Run\n\n${OLD}\nSee below.\n\n`, "")(BASE)]) {
    const { b, told } = await staleSave(MORE, theirs);
    expect(told).toContain("");
    expect(b.file()).toContain(OURS);
    expect(withoutBlanks(await chosenText(b, ""))).toBe(withoutBlanks(theirs));
    await lab.end();
  }
});

test("the kind that another machine gave a block says nothing where the save deletes that", async () => {
  const kind = put("```sh", "```bash")(BASE);
  const { b, told } = await staleSave(kind, GONE);
  expect(told.toSorted()).toEqual(["", put("```sh", "```bash")(OLD)]);
  expect(withoutBlanks(b.file())).toBe(withoutBlanks(kind));
});

test("a block with blank lines stays whole where the save has something else in its place", async () => {
  const spaced = "```sh\nnpm run docs\n\nnpm run retry\n\nnpm run all\n```\n";
  const base = BASE.replace(OLD, spaced);
  const [a, b] = await lab.pair(base);
  await a.save(base.replace("```sh", "```bash"));
  await exchange([a, b]);
  await b.save(base.replace(spaced, "See the docs.\n").replace("- two\n", "- two\n- three\n"));
  await exchange([a, b]);
  const kept = spaced.replace("```sh", "```bash");
  const text = base
    .replace(spaced, `See the docs.\n${kept}`)
    .replace("- two\n", "- two\n- three\n");
  expect(withoutBlanks(b.file())).toBe(withoutBlanks(text));
  expect((await b.conflicts()).map(({ versions }) => versions.map((each) => each.text))).toEqual([
    ["See the docs.\n", kept],
  ]);
});

test("a paragraph above a block to which a save gives another kind stays above it", async () => {
  const ours = below("## Run", "Look at this.\n\n")(BASE);
  const { b, told } = await staleSave(ours, put("```sh", "```bash")(BASE));
  expect(told.toSorted()).toEqual(["", "Look at this.\n"]);
  expect(b.file()).toBe(put("```sh", "```bash")(ours));
});

/** What a second machine has after a save from a text of before, and what is told. */
async function staleSave(ours: string, theirs: string) {
  const [a, b] = await lab.pair(BASE);
  await a.save(ours);
  await exchange([a, b]);
  await b.save(theirs);
  await exchange([a, b]);
  const [conflict, ...more] = await b.conflicts();
  expect(more).toEqual([]);
  return { b, told: (conflict?.versions ?? []).map(({ text }) => text) };
}

async function chosenText(machine: FollowedMachine, version: string): Promise<string> {
  const writes = await machine.choiceOf(version);
  const last = writes.findLast((write) => write.kind === "text");
  return last?.kind === "text" ? last.value : machine.file();
}

/** How many blank lines go with what is chosen is not judged here. */
function withoutBlanks(text: string): string {
  return text.replaceAll(/\n{2,}/g, "\n");
}
