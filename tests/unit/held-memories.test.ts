import { beforeEach, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { readEnvironment } from "../../cli/place/environment.ts";
import { writtenSince } from "../../cli/writes/written-memories.ts";
import { AUTO_MEMORY } from "../../daemon/assistants/claude-code/auto-memory-folders.ts";
import { hashOf } from "../../daemon/disk/read-file.ts";
import {
  allowHeld,
  dropHeld,
  findHeld,
  heldId,
  listHeld,
  putHeld,
} from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { listAskedMemoryFiles } from "../../daemon/home/memory-files.ts";
import { applyAllowed } from "../../daemon/inbox/apply-allowed.ts";
import { replaceHeld } from "../../daemon/overwritten/replace-held.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import {
  MEMORY_PROJECT,
  type MemoryMachine,
  memoriesOfEach,
  settleMemories,
} from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const NAME = "one.md";
const SECRET = `The token is ${PLANTED.github}\n`;
/** The same in other words. */
const VAULT = "The token is in the vault\n";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

const placeOf = (text: string, name = NAME) => ({
  kind: "memory" as const,
  account: LOCAL_ACCOUNT,
  document: MEMORY_PROJECT,
  key: a.keyOf(name),
  apart: hashOf(text),
});

/** What is told of a held text that no file has any more. */
const gone = (text: string, name = NAME) => ({
  code: "memory-held-gone",
  id: heldId(placeOf(text, name)),
});

async function heldTexts(): Promise<(string | undefined)[]> {
  return (await listHeld(a.store.reader)).map(({ value }) => value);
}

function notesOf(machine: MemoryMachine): unknown[] {
  return machine.keeper.status.flatMap(({ notes }) => notes.map(({ why }) => why));
}

/** As `memsync held allow` has it written. */
async function allow(): Promise<void> {
  const place = placeOf(SECRET);
  const held = await findHeld(a.store.reader, place);
  await a.store.write(async (context) => {
    const open = await context.open({ owner: LOCAL_ACCOUNT, name: MEMORY_PROJECT });
    const { value = "", seen = [], writtenAt: now = 0 } = held ?? {};
    open.document.setEntry("memories", a.keyOf(NAME), { value, now, seen });
    await dropHeld(context.db, place);
  });
  await a.keeper.lookAnew();
}

test("a file that is deleted while its text is held is told until that is dropped", async () => {
  a.save(NAME, SECRET);
  await a.look();
  expect(notesOf(a)).toEqual([]);
  a.drop(NAME);
  await a.look();
  expect(notesOf(a)).toEqual([gone(SECRET)]);
  expect(await listHeld(a.store.reader)).toMatchObject([{ value: SECRET }]);
  await a.store.write(({ db }) => dropHeld(db, placeOf(SECRET)));
  await a.keeper.lookAnew();
  expect(notesOf(a)).toEqual([]);
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  expect(b.read(NAME)).toBe("one\n");
});

test("a file that comes back with what is held of it is as before", async () => {
  a.save(NAME, SECRET);
  await a.look();
  a.drop(NAME);
  await a.look();
  a.save(NAME, SECRET);
  await a.look();
  expect(notesOf(a)).toEqual([]);
  expect(await listHeld(a.store.reader)).toMatchObject([{ value: SECRET }]);
  a.save(NAME, VAULT);
  await settleMemories(a, b);
  expect(await listHeld(a.store.reader)).toEqual([]);
  expect(b.read(NAME)).toBe(VAULT);
});

test("who agrees to delete a missing memory deletes what is held of it, too", async () => {
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  a.save(NAME, SECRET);
  await a.look();
  a.drop(NAME);
  await a.look();
  expect(a.keeper.status[0]?.asked).toMatchObject([{ name: NAME, asked: "missing" }]);
  expect(await listHeld(a.store.reader)).toHaveLength(1);
  await a.settle(NAME, "delete");
  await settleMemories(a, b);
  expect(await listHeld(a.store.reader)).toEqual([]);
  expect([await a.values(NAME), notesOf(a)]).toEqual([[], []]);
});

test("who deletes a missing memory that others have written keeps what is held, and gets theirs", async () => {
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  a.save(NAME, SECRET);
  await a.look();
  b.world.advance(61_000);
  await b.look();
  b.save(NAME, "of b\n");
  await settleMemories(a, b);
  a.drop(NAME);
  await a.look();
  const asked = await listAskedMemoryFiles(a.store.reader, "auto-memory");
  const folders = [{ path: a.memories, format: AUTO_MEMORY }];
  const kept = await writtenSince(readEnvironment({}), a.store.reader, { asked, folders });
  expect(kept.map(({ name }) => name)).toEqual([NAME]);
  await a.settle(NAME, "delete");
  await settleMemories(a, b);
  expect([a.read(NAME), b.read(NAME)]).toEqual(["of b\n", "of b\n"]);
  expect(await listHeld(a.store.reader)).toMatchObject([{ value: SECRET }]);
});

test("a held file says that others' version does not come, and gets it once the secret is gone", async () => {
  a.save(NAME, "one\n\ntwo\n");
  await settleMemories(a, b);
  a.save(NAME, `one\n\ntwo\n${SECRET}`);
  await a.look();
  b.world.advance(61_000);
  await b.look();
  b.save(NAME, "of b\n\none\n\ntwo\n");
  await settleMemories(a, b);
  const text = `one\n\ntwo\n${SECRET}`;
  expect(a.read(NAME)).toBe(text);
  expect(notesOf(a)).toEqual([{ code: "memory-held-others", id: heldId(placeOf(text)) }]);
  a.save(NAME, `one\n\ntwo\n${VAULT}`);
  await settleMemories(a, b);
  for (const machine of [a, b]) expect(machine.read(NAME)).toBe(`of b\n\none\n\ntwo\n${VAULT}`);
  expect([await listHeld(a.store.reader), notesOf(a)]).toEqual([[], []]);
});

test("what is allowed after others have written stands beside that, and the file goes on", async () => {
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  a.save(NAME, SECRET);
  await a.look();
  b.world.advance(61_000);
  await b.look();
  b.save(NAME, "of b\n");
  await settleMemories(a, b);
  await allow();
  await settleMemories(a, b);
  expect((await a.values(NAME)).sort()).toEqual([SECRET, "of b\n"].sort());
  const [current] = await a.values(NAME);
  for (const machine of [a, b]) expect(machine.read(NAME)).toBe(current ?? "");
  b.save(NAME, `${current}more\n`);
  await settleMemories(a, b);
  expect(a.read(NAME)).toContain("more\n");
});

/** Each makes the file anew after its held text went with it. */
const REMADE = [
  ["a file that an assistant writes anew", () => a.save(NAME, "a new note\n")],
  ["a file that a backup brings back as it was", () => a.save(NAME, "one\n")],
  ["a file with another secret", () => a.save(NAME, `other\n${SECRET}`)],
  ["a file that somebody restores", () => a.settle(NAME, "restore")],
] as const;

test.each(REMADE)(
  "%s takes nothing of the text that was held of the former one",
  async (_, remake) => {
    const precious = `one\nprecious\n${SECRET}`;
    a.save(NAME, "one\n");
    await settleMemories(a, b);
    a.save(NAME, precious);
    await a.look();
    a.drop(NAME);
    await a.look();
    expect(notesOf(a)).toEqual([gone(precious)]);
    await remake();
    await settleMemories(a, b);
    expect(await heldTexts()).toContain(precious);
    expect(notesOf(a)).toContainEqual(gone(precious));
    a.save(NAME, `again\nother\n${SECRET}`);
    await settleMemories(a, b);
    expect(await heldTexts()).toContain(precious);
    expect(notesOf(a)).toContainEqual(gone(precious));
    await a.store.write(({ db }) => dropHeld(db, placeOf(precious)));
    await a.keeper.lookAnew();
    expect(notesOf(a)).not.toContainEqual(gone(precious));
  },
);

test("a held file that was never sent is told beside the one that comes in its place", async () => {
  const precious = `precious\n${SECRET}`;
  a.save(NAME, precious);
  await a.look();
  a.drop(NAME);
  await a.look();
  b.save(NAME, "of b\n");
  await settleMemories(a, b);
  expect([a.read(NAME), notesOf(a)]).toEqual(["of b\n", [gone(precious)]]);
  a.save(NAME, "of b\nand a\n");
  await settleMemories(a, b);
  expect([await heldTexts(), notesOf(a)]).toEqual([[precious], [gone(precious)]]);
  a.save(NAME, `of b\nprecious\n${VAULT}`);
  await settleMemories(a, b);
  expect([await heldTexts(), notesOf(a)]).toEqual([[], []]);
});

const INDEX = "MEMORY.md";
const LINES = "# Memory\n\n- one\n- two\n";

test.each([0, 20_000, 300_000])(
  "a session that has not read a held index takes none of its lines, %i ms later",
  async (later) => {
    const held = `${LINES}- precious\n- ${SECRET}`;
    a.save(INDEX, LINES);
    await settleMemories(a, b);
    await a.saveHeard(INDEX, held);
    if (later > 0) await a.look();
    a.world.advance(later);
    if (later > 0) await a.look();
    await a.saveHeard(INDEX, `${LINES}- of another session\n`);
    await settleMemories(a, b);
    for (const machine of [a, b]) expect(machine.read(INDEX)).toContain("- of another session\n");
    expect([await heldTexts(), notesOf(a)]).toEqual([[held], [gone(held, INDEX)]]);
  },
);

test("a second session with a secret of its own leaves what is held of the first", async () => {
  const [held, other] = [`${LINES}- precious\n- ${SECRET}`, `${LINES}- other\n- ${SECRET}`];
  a.save(INDEX, LINES);
  await settleMemories(a, b);
  await a.saveHeard(INDEX, held);
  await a.look();
  await a.saveHeard(INDEX, other);
  await settleMemories(a, b);
  expect((await heldTexts()).sort()).toEqual([held, other].sort());
  expect(notesOf(a)).toEqual([gone(held, INDEX)]);
  await a.saveHeard(INDEX, `${LINES}- other\n- ${VAULT}`);
  await settleMemories(a, b);
  expect([await heldTexts(), notesOf(a)]).toEqual([[held], [gone(held, INDEX)]]);
});

/** Saves over a held text by somebody who has read it. */
const MENDED = [
  ["the secret is said in other words", `one\nnote\n${VAULT}more\n`],
  ["its lines stand elsewhere", `one\nmore\n  note\n${VAULT}`],
  ["all is as it was, and more", `one\nnote\n${VAULT}more\nand more\n`],
] as const;

test.each(MENDED)("who mends a held file is told nothing: %s", async (_, mended) => {
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  a.save(NAME, `one\nnote\n${SECRET}more\n`);
  await a.look();
  a.save(NAME, mended);
  await settleMemories(a, b);
  expect(b.read(NAME)).toBe(mended);
  expect([await heldTexts(), notesOf(a)]).toEqual([[], []]);
});

/** Saves over a held text by which nobody can tell whether its author has read it. */
const UNREAD = [
  ["its one line has the secret", LINES, `${LINES}- deploy: ${SECRET}`, `${LINES}- other\n`],
  ["another line goes with the secret", "one\n", `one\nnote\n${SECRET}more\n`, "one\nmore\n"],
  [
    "the line with the secret goes",
    "one\n",
    `one\nnote of the last deploy\n${SECRET}`,
    "one\nnote of the last deploy\n",
  ],
  ["all is as it was before", "one\n", `one\n${SECRET}`, "one\n"],
  [
    "front matter and a heading are alike",
    undefined,
    `---\nname: deploy\n---\n# How\n${SECRET}`,
    "---\nname: deploy\n---\n# How\nby hand\n",
  ],
  [
    "a line is said once more than before",
    "one\n- run all tests first\n",
    `one\n- run all tests first\n- run all tests first\n${SECRET}`,
    "one\n- run all tests first\n- other\n",
  ],
  [
    "another line is like the one with the secret",
    "one\n",
    `one\n- the key for prod is ${PLANTED.github}\n`,
    "one\n- the deploy for prod is slow\n",
  ],
  [
    "a block of code begins alike",
    "one\n",
    `one\n\`\`\`bash\nexport GITHUB_TOKEN=${PLANTED.github}\n\`\`\`\n`,
    "one\n```bash\nmake deploy\n```\n",
  ],
  ["its one line is the secret", "one\n", `one\n${PLANTED.github}\n`, "one\nother\n"],
  [
    "a line with no letter goes",
    "one\n",
    `one\nthe state of the build\n🚀🚀\n${SECRET}`,
    "one\nthe state of the build\n",
  ],
] as const;

test("a program that saves what it read before takes nothing that was held since", async () => {
  const first = `one\n- the first of all notes\n${SECRET}`;
  const lines = ["- deploys are made by ann\n", `The password of staging: ${PLANTED.slack}\n`];
  for (const line of lines) {
    const [name, held] = [`${line.length}.md`, `${first}${line}`];
    a.save(name, "one\n");
    await settleMemories(a, b);
    a.save(name, first);
    await a.look();
    a.save(name, held);
    await a.look();
    const mine = line.includes(PLANTED.slack) ? "" : "- deploys are made by ben\n";
    a.save(name, mine === "" ? "one\n- the first of all notes\n" : `${first}${mine}`);
    await settleMemories(a, b);
    expect(await heldTexts()).toContain(held);
    expect(notesOf(a)).toContainEqual(gone(held, name));
  }
});

test("a secret that is saved again and again in other words leaves some texts, with all lines", async () => {
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  for (let at = 0; at < 40; at += 1) {
    a.save(NAME, `one\n${at}-th text ${at}\n${SECRET}`);
    await a.look();
  }
  const texts = await heldTexts();
  expect(texts.length).toBeLessThan(12);
  expect(notesOf(a)).toHaveLength(texts.length - 1);
  const stands = texts.join("");
  for (let at = 0; at < 40; at += 1) expect(stands).toContain(`${at}-th text ${at}\n`);
});

test.each(UNREAD)("a held text stays, and is told: %s", async (_, base, held, saved) => {
  if (base !== undefined) a.save(NAME, base);
  await settleMemories(a, b);
  a.save(NAME, held);
  await a.look();
  a.save(NAME, saved);
  await settleMemories(a, b);
  expect([await heldTexts(), notesOf(a)]).toEqual([[held], [gone(held)]]);
  a.save(NAME, `${saved}and more\n`);
  await settleMemories(a, b);
  expect([await heldTexts(), notesOf(a)]).toEqual([[held], [gone(held)]]);
});

test("what is held of a file that went stays beside one that is as it was", async () => {
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  const held = `one\n${SECRET}`;
  a.save(NAME, held);
  await a.look();
  a.drop(NAME);
  await a.look();
  for (const text of ["one\n", "one\nand more\n"]) {
    a.save(NAME, text);
    await settleMemories(a, b);
    expect([await heldTexts(), notesOf(a)]).toEqual([[held], [gone(held)]]);
  }
});

test("of a text that is held and saved again and again only the last is held", async () => {
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  for (const end of ["a word", "a word\nand two", "a word\nand two\nthe end"]) {
    a.save(NAME, `one\nnote\n${SECRET}${end}\n`);
    await a.look();
  }
  expect(await heldTexts()).toEqual([`one\nnote\n${SECRET}a word\nand two\nthe end\n`]);
  expect(notesOf(a)).toEqual([]);
});

test("a write by another way shows itself, and leaves what is held of the file", async () => {
  a.save(NAME, SECRET);
  await a.look();
  await a.store.write(async (context) => {
    const { account, document, key } = placeOf(SECRET);
    const write = { base: undefined, value: "one\n" };
    await replaceHeld(context.db, { kind: "memory", account, document, key }, write);
  });
  const shown = async () => await readLocalMemories(a.store.reader, MEMORY_PROJECT);
  expect([await shown(), await heldTexts()]).toEqual([[], [SECRET]]);
  await a.keeper.lookAnew();
  expect(notesOf(a)).toEqual([]);
  a.drop(NAME);
  await a.look();
  expect([await heldTexts(), notesOf(a)]).toEqual([[SECRET], [gone(SECRET)]]);
});

test("what a former version holds of a file, under the memory's name alone, is kept as well", async () => {
  a.save(NAME, SECRET);
  await a.look();
  await a.store.write(async ({ db }) => {
    const item = await findHeld(db, placeOf(SECRET));
    assert(item);
    await dropHeld(db, item);
    await putHeld(db, { ...item, apart: undefined });
  });
  a.drop(NAME);
  await a.look();
  expect([await heldTexts(), notesOf(a)]).toEqual([[SECRET], [gone(SECRET)]]);
});

test("what somebody has allowed is still allowed where the file has lost it by then", async () => {
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  const precious = `one\nprecious\n${SECRET}`;
  a.save(NAME, precious);
  await a.look();
  const item = await findHeld(a.store.reader, placeOf(precious));
  assert(item);
  await a.store.write(({ db }) => allowHeld(db, item));
  a.save(NAME, "one\nof another program\n");
  await a.look();
  expect(await listHeld(a.store.reader)).toMatchObject([{ value: precious, allowed: true }]);
  await a.store.write(async (context) => {
    const open = await context.open({ owner: LOCAL_ACCOUNT, name: MEMORY_PROJECT });
    await applyAllowed(context);
    await context.flush(open);
  });
  await settleMemories(a, b);
  expect(await heldTexts()).toEqual([]);
  expect(await b.values(NAME)).toContain(precious);
  expect(await b.values(NAME)).toContain("one\nof another program\n");
});
