import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { dropHeldText, filesWithHeld } from "../../daemon/assistants/personal/drop-held-text.ts";
import { heldAdvice } from "../../daemon/held/advice.ts";
import { type HeldItem, listHeld } from "../../daemon/home/held-store.ts";
import { settleMet } from "../../daemon/overwritten/met-held.ts";
import { findHeldWhere } from "../../daemon/status/held-status.ts";
import { MemoryMachine } from "../support/memory-machines.ts";
import { PersonalMachine } from "../support/personal-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const NAME = "one.md";
const SECRET = `one\nThe token is ${PLANTED.github}\n`;

let memories: MemoryMachine;
let personal: PersonalMachine;
beforeEach(async () => {
  memories = await MemoryMachine.start("anna");
  personal = await PersonalMachine.start("ben");
});
afterEach(async () => {
  await memories.remove();
  await personal.remove();
});

async function onlyHeld({ store }: MemoryMachine | PersonalMachine): Promise<HeldItem> {
  const [item, ...more] = await listHeld(store.reader);
  if (!item || more.length > 0) throw new Error("not one text is held");
  return item;
}

test("a held text stands in its memory's file until that is another one", async () => {
  memories.save(NAME, SECRET);
  await memories.look();
  const item = await onlyHeld(memories);
  const { reader } = memories.store;
  expect(await filesWithHeld(reader, item)).toEqual([join(memories.memories, NAME)]);
  memories.save(NAME, "another\n");
  expect(await filesWithHeld(reader, item)).toEqual([]);
});

test("a held text stands in its block until that has another one", async () => {
  await personal.on("claude");
  personal.edit("claude", () => "one\n");
  await personal.look();
  personal.edit("claude", () => SECRET);
  await personal.look();
  const item = await onlyHeld(personal);
  const { reader } = personal.store;
  expect(await filesWithHeld(reader, item)).toHaveLength(1);
  personal.edit("claude", () => "another\n");
  expect(await filesWithHeld(reader, item)).toEqual([]);
});

test("a text that was dropped is held again where a file has it again", async () => {
  memories.save(NAME, SECRET);
  await personal.on("claude");
  personal.edit("claude", () => SECRET);
  for (const machine of [memories, personal]) {
    await machine.look();
    const item = await onlyHeld(machine);
    expect(await machine.store.write(({ db }) => dropHeldText(db, item))).toBe(true);
    await machine.keeper.lookAnew();
    expect((await onlyHeld(machine)).value).toBe(item.value);
  }
});

test("what a file still has is not told as written over, whatever others wrote since", async () => {
  memories.save(NAME, "one\n");
  await memories.look();
  memories.save(NAME, SECRET);
  await memories.look();
  await memories.writeMemory(memories.keyOf(NAME), "one\nof another machine\n");
  await memories.store.write(({ db }) => settleMet(db));
  const { reader } = memories.store;
  const advice = async () => {
    const item = await onlyHeld(memories);
    return [item.shown, heldAdvice(item, await findHeldWhere(reader, item))];
  };
  expect(await advice()).toEqual([false, expect.stringMatching(/; it stays on this machine; /)]);
  memories.save(NAME, "another\n");
  expect(await advice()).toEqual([false, expect.stringMatching(/`memsync held drop .* deletes/)]);
});
