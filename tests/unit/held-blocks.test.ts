import { afterEach, beforeEach, expect, test } from "bun:test";
import { allowHeld, dropHeld, listHeld } from "../../daemon/home/held-store.ts";
import { applyAllowed } from "../../daemon/inbox/apply-allowed.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

let a: PersonalMachine;
let b: PersonalMachine;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  b = await PersonalMachine.start("ben");
  for (const name of ["claude", "gemini"]) await a.on(name);
  await b.on("claude");
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  for (const machine of [a, b]) machine.world.advance(61_000);
  await settlePersonal(a, b);
});
afterEach(async () => {
  for (const machine of [a, b]) await machine.remove();
});

/** The texts that are held, without the line that names their versions. */
async function heldTexts(): Promise<string[]> {
  const all = await listHeld(a.store.reader);
  return all.map(({ value = "" }) => value.slice(value.indexOf("\n") + 1));
}

test("of two held files each has its own text held, and mending one leaves the other", async () => {
  a.edit("claude", (text) => `${text}of claude ${PLANTED.github}\n`);
  a.edit("gemini", (text) => `${text}of gemini ${PLANTED.slack}\n`);
  await a.look();
  expect(await heldTexts()).toEqual([
    `one\nof claude ${PLANTED.github}\n`,
    `one\nof gemini ${PLANTED.slack}\n`,
  ]);
  a.edit("claude", () => "one\nof claude fine\n");
  await settlePersonal(a, b);
  expect(await heldTexts()).toEqual([`one\nof gemini ${PLANTED.slack}\n`]);
  expect(a.stateOf("claude")).toBe("current");
  expect(a.stateOf("gemini")).toBe("left-alone personal-held");
  a.edit("gemini", () => "one\nof gemini\n");
  await settlePersonal(a, b);
  expect(await heldTexts()).toEqual([]);
  for (const name of ["claude", "gemini"]) expect(a.block(name)).toBe(b.block("claude"));
  expect(b.block("claude")).toContain("of claude fine\n");
  expect(b.block("claude")).toContain("of gemini\n");
});

test("the same held text in two files stays until both have lost it", async () => {
  const secret = `one\nprecious\nThe token is ${PLANTED.github}\n`;
  for (const name of ["claude", "gemini"]) a.edit(name, () => secret);
  await a.look();
  expect(await heldTexts()).toEqual([secret]);
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  expect(await heldTexts()).toEqual([secret]);
  expect([a.stateOf("claude"), a.stateOf("gemini")]).toEqual([
    "current",
    "left-alone personal-held",
  ]);
  a.edit("gemini", () => "one\nprecious\nThe token is in the vault\n");
  await settlePersonal(a, b);
  expect([await heldTexts(), b.block("claude")]).toEqual([
    [],
    "one\nprecious\nThe token is in the vault\n",
  ]);
});

test("a held block that a program writes over unread is told until it is dropped", async () => {
  const secret = `one\nprecious\nThe token is ${PLANTED.github}\n`;
  a.edit("claude", () => secret);
  await a.look();
  a.edit("claude", () => "one\nof another program\n");
  await settlePersonal(a, b);
  expect(b.block("claude")).toBe("one\nof another program\n");
  expect([await heldTexts(), a.stateOf("claude")]).toEqual([[secret], "current memory-held-gone"]);
  const [held] = await listHeld(a.store.reader);
  if (held) await a.store.write(({ db }) => dropHeld(db, held));
  await a.keeper.lookAnew();
  expect([await heldTexts(), a.stateOf("claude")]).toEqual([[], "current"]);
});

test("a held block that is put back as it was leaves what was held", async () => {
  const secret = `one\nprecious\nThe token is ${PLANTED.github}\n`;
  a.edit("claude", () => secret);
  await a.look();
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  expect([await heldTexts(), a.stateOf("claude")]).toEqual([[secret], "current memory-held-gone"]);
  a.edit("claude", () => "one\nprecious\nThe token is in the vault\n");
  await settlePersonal(a, b);
  expect([await heldTexts(), a.stateOf("claude")]).toEqual([[], "current"]);
});

test("two held texts that are allowed at once are both in all files, and nothing is asked", async () => {
  a.edit("claude", (text) => `${text}of claude ${PLANTED.github}\n`);
  a.edit("gemini", (text) => `${text}of gemini ${PLANTED.slack}\n`);
  await a.look();
  await a.store.write(async (context) => {
    for (const item of await listHeld(context.db)) await allowHeld(context.db, item);
    await applyAllowed(context);
  });
  await settlePersonal(a, b);
  for (const name of ["claude", "gemini"]) {
    expect(a.stateOf(name)).toBe("current");
    expect(a.block(name)).toBe(b.block("claude"));
  }
  for (const line of [`of claude ${PLANTED.github}\n`, `of gemini ${PLANTED.slack}\n`]) {
    expect(b.block("claude")).toContain(line);
  }
});
