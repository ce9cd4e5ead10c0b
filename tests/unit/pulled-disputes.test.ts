import { expect, setDefaultTimeout, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, LONG_MS, type Pair } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const SETUP = "## Setup\n\n- Install node\n- Clone the repository\n- Run the installer\n\n";
const COMMANDS = "## Commands\n\nnpm run build\nnpm run check\nnpm run ship\n\n";
const CONTACTS = "## Contacts\n\nAsk Bob.\n";
const TEXT = `# Handbook\n\nIntro line one.\n\n${SETUP}${COMMANDS}${CONTACTS}`;

/** The text with another line in the place of the disputed one, or several. */
const withCheck = (...lines: readonly string[]) =>
  TEXT.replace("npm run check\n", lines.map((line) => `npm run check${line}\n`).join(""));

const lab = clonesOfEach();

async function pair(): Promise<Pair> {
  const made = await lab.pair({ [FILE]: TEXT });
  for (const each of [made.a, made.b]) await each.follow({ write: true });
  await exchange([made.a, made.b]);
  for (const each of [made.a, made.b]) await each.pass(LONG_MS);
  return made;
}

/** Both have mended a line, b without having seen it. */
async function disputed(): Promise<Pair> {
  const { a, b } = await pair();
  await a.save(withCheck(" --all"));
  await exchange([a, b]);
  await b.save(withCheck(" --one"));
  await exchange([a, b]);
  expect(await told(a)).toEqual([["unseen", "npm run check --all\n", "npm run check --one\n"]]);
  return { a, b };
}

/** Somebody without memsync pushes this text. */
async function push(text: string): Promise<void> {
  const { git } = lab;
  await git.run(git.folder, "clone", "-q", "origin.git", "third");
  await git.write(git.path(join("third", FILE)), text);
  await git.run(git.path("third"), "commit", "-qam", "third");
  await git.run(git.path("third"), "push", "-q");
}

async function pull(at: FollowedMachine, ...options: string[]): Promise<string> {
  const pulled = lab.run(at, "-c", "pull.rebase=false", "pull", "-q", "--no-edit", ...options);
  return await pulled.catch((error) => String(error));
}

async function told(at: FollowedMachine) {
  const listed = await at.listed();
  const all = (await at.conflicts()).filter(({ id }) => listed.includes(id));
  return all.map(({ kind, versions }) => [kind, ...versions.map(({ text }) => text)]);
}

/** Both have this text and these conflicts. */
async function expectBoth({ a, b }: Pair, text: string, conflicts: string[][] = []) {
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([text, text]);
  expect([await told(a), await told(b)]).toEqual([conflicts, conflicts]);
}

test("a conflict is over where both discard what is theirs, and pull one of its versions", async () => {
  const { a, b } = await disputed();
  await push(withCheck(" --one"));
  await lab.run(a, "checkout", "--", FILE);
  await a.settle();
  await exchange([a, b]);
  await pull(a);
  await a.settle();
  await exchange([a, b]);
  await lab.run(b, "checkout", "--", FILE);
  await pull(b);
  await expectBoth({ a, b }, withCheck(" --one"));
  expect([a.file(), b.file()]).toEqual([withCheck(" --one"), withCheck(" --one")]);
});

test("a conflict of two machines that met is over where one of its versions is deleted, unless that is undone", async () => {
  const { a, b } = await pair();
  await a.save(withCheck(" --all"));
  await b.save(withCheck(" --one"));
  await exchange([a, b]);
  const texts = ["npm run check --all\n", "npm run check --one\n"];
  const both = withCheck(" --all", " --one");
  await expectBoth({ a, b }, both, [["both", ...texts]]);
  for (const each of [a, b]) await each.pass(LONG_MS);
  await a.save(withCheck(" --all"));
  await expectBoth({ a, b }, withCheck(" --all"));
  await a.save(both);
  await expectBoth({ a, b }, both, [["unseen", ...texts]]);
});

/** Machine a has committed both versions, and pulls a third one: git shows its marks. */
async function marked(pair?: Pair): Promise<Pair> {
  const { a, b } = pair ?? (await disputed());
  await push(withCheck(" --third"));
  await lab.run(a, "commit", "-qam", "both");
  expect(await pull(a)).toContain("failed");
  await a.settle();
  await exchange([a, b]);
  expect(a.file()).toContain("<<<<<<<");
  return { a, b };
}

/** The lines of others that a save may lack without having seen them, each beside its own. */
const unseenBeside = (own: string) =>
  ["npm run check --one\n", "npm run check --third\n"].map((line) => ["unseen", own, line]);

for (const isSoon of [true, false]) {
  const when = isSoon ? "at once" : "later";
  const solve = async (made: string) => {
    const { a, b } = await marked();
    if (isSoon) a.put(withCheck(made));
    else await a.save(withCheck(made));
    await lab.run(a, "commit", "-qam", "solved");
    return { a, b };
  };

  test(`who puts a line of git's marks in their place has seen what they show, committed ${when}`, async () => {
    await expectBoth(await solve(" --third"), withCheck(" --third"));
  });

  test(`who makes one line of what git's marks show has seen it, committed ${when}`, async () => {
    await expectBoth(await solve(" --all-and-third"), withCheck(" --all-and-third"));
  });

  test(`who puts something new in the place of git's marks may have typed it before, committed ${when}`, async () => {
    const both = await solve(" --fourth");
    const text = withCheck(" --fourth", " --one", " --third");
    await expectBoth(both, text, unseenBeside("npm run check --fourth\n"));
  });
}

for (const [what, made, unread] of [
  ["one line of both versions has read them", " --all-and-third", []],
  ["a line of his own may not have read the other one", " --fourth", [" --third"]],
] as const)
  test(`who merges by hand what nobody else has changed, and makes ${what}`, async () => {
    const { a, b } = await pair();
    await a.save(withCheck(" --all"));
    await exchange([a, b]);
    for (const each of [a, b]) await each.pass(LONG_MS);
    await marked({ a, b });
    a.put(withCheck(made));
    await lab.run(a, "commit", "-qam", "solved");
    const told = unread.map((line) => [
      "unseen",
      `npm run check${made}\n`,
      `npm run check${line}\n`,
    ]);
    await expectBoth({ a, b }, withCheck(made, ...unread), told);
    expect(a.file()).toBe(withCheck(made, ...unread));
  });

test("a minute after git has shown its marks whoever solves the conflict has seen them", async () => {
  const { a, b } = await disputed();
  for (const each of [a, b]) await each.pass(LONG_MS);
  await marked({ a, b });
  const later = statSync(join(a.dir, FILE)).mtimeMs + LONG_MS;
  const solved = { [FILE]: withCheck(" --fourth") };
  await lab.git.commit(a.dir, solved, new Date(later).toISOString());
  await expectBoth({ a, b }, withCheck(" --fourth"));
});

test("a save of a text of before in the place of git's marks is in doubt", async () => {
  const { a, b } = await marked();
  await a.save(withCheck(" --all"));
  await lab.run(a, "commit", "-qam", "solved");
  const texts = ["npm run check --all\n", "npm run check --one\n"];
  const pulled = ["unseen", "", "npm run check --third\n"];
  const text = withCheck(" --one", " --all", " --third");
  await expectBoth({ a, b }, text, [["unseen", ...texts], pulled]);
});

test("of a line beside git's marks nobody can say that it was seen", async () => {
  const { a, b } = await disputed();
  await b.save(`${b.file()}Or Ann.\n`);
  await exchange([a, b]);
  await marked({ a, b });
  await a.save(withCheck(" --third"));
  await lab.run(a, "commit", "-qam", "solved");
  await expectBoth({ a, b }, `${withCheck(" --third")}Or Ann.\n`, [["unseen", "", "Or Ann.\n"]]);
});

for (const [who, kind] of [
  ["a", "renewed"],
  ["b", "unseen"],
] as const) {
  test(`a section that ${who} deleted, and that a pulled commit moves, is told`, async () => {
    const { a, b } = await pair();
    const moved = `${TEXT.replace(SETUP, "")}\n${SETUP.slice(0, -1)}`;
    await push(moved);
    await { a, b }[who].save(TEXT.replace(SETUP, ""));
    await exchange([a, b]);
    await pull(a, "--autostash");
    const section = SETUP.replaceAll("\n\n", "\n");
    await expectBoth({ a, b }, moved, [[kind, "", section]]);
  });
}

test("a line that was deleted, and that a pulled commit mends elsewhere, is told by nobody twice", async () => {
  const { a, b } = await pair();
  await push(TEXT.replace("Ask Bob.", "Ask Bob or Ann."));
  await a.save(TEXT.replace("npm run ship\n", ""));
  await exchange([a, b]);
  await pull(a, "--autostash");
  const text = TEXT.replace("Ask Bob.", "Ask Bob or Ann.").replace("npm run ship\n", "");
  await expectBoth({ a, b }, text);
});
