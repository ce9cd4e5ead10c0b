import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { FILE, FollowedClones, LONG_MS, type Pair } from "../support/followed-clones.ts";
import { exchange, type FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const SETUP = "## Setup\n\n- Install node\n- Clone the repository\n- Run the installer\n\n";
const COMMANDS = "## Commands\n\nnpm run build\nnpm run check\nnpm run ship\n\n";
const CONTACTS = "## Contacts\n\nAsk Bob.\n";
const TEXT = `# Handbook\n\nIntro line one.\n\n${SETUP}${COMMANDS}${CONTACTS}`;

/** The text with another line in the place of the disputed one, or several. */
const withCheck = (...lines: readonly string[]) =>
  TEXT.replace("npm run check\n", lines.map((line) => `npm run check${line}\n`).join(""));

let lab: FollowedClones;

beforeEach(() => {
  lab = new FollowedClones();
});

afterEach(() => lab.end());

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
