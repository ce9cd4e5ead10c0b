import { afterEach, beforeEach, expect, test } from "bun:test";
import { readEnvironment } from "../../cli/place/environment.ts";
import { writtenSince } from "../../cli/writes/written-memories.ts";
import { AUTO_MEMORY } from "../../daemon/assistants/claude-code/auto-memory-folders.ts";
import { dropHeld, findHeld, heldId, listHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { listAskedMemoryFiles } from "../../daemon/home/memory-files.ts";
import { MEMORY_PROJECT, MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const NAME = "one.md";
const SECRET = `The token is ${PLANTED.github}\n`;

let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  a = await MemoryMachine.start("anna");
  b = await MemoryMachine.start("ben");
});
afterEach(async () => {
  for (const machine of [a, b]) await machine.remove();
});

const place = () => ({
  kind: "memory" as const,
  account: LOCAL_ACCOUNT,
  document: MEMORY_PROJECT,
  key: a.keyOf(NAME),
});

function notesOf(machine: MemoryMachine): unknown[] {
  return machine.keeper.status.flatMap(({ notes }) => notes.map(({ why }) => why));
}

/** As `memsync held allow` has it written. */
async function allow(): Promise<void> {
  const held = await findHeld(a.store.reader, place());
  await a.store.write(async (context) => {
    const open = await context.open({ owner: LOCAL_ACCOUNT, name: MEMORY_PROJECT });
    const { value = "", seen = [], writtenAt: now = 0 } = held ?? {};
    open.document.setEntry("memories", a.keyOf(NAME), { value, now, seen });
    await dropHeld(context.db, place());
  });
  await a.keeper.lookAnew();
}

test("a file that is deleted while its text is held is told until that is dropped", async () => {
  a.save(NAME, SECRET);
  await a.look();
  expect(notesOf(a)).toEqual([]);
  a.drop(NAME);
  await a.look();
  expect(notesOf(a)).toEqual([{ code: "memory-held-gone", id: heldId(place()) }]);
  expect(await listHeld(a.store.reader)).toMatchObject([{ value: SECRET }]);
  await a.store.write(({ db }) => dropHeld(db, place()));
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
  a.save(NAME, "one\n");
  await settleMemories(a, b);
  expect(await listHeld(a.store.reader)).toEqual([]);
  expect(b.read(NAME)).toBe("one\n");
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
  expect(a.read(NAME)).toBe(`one\n\ntwo\n${SECRET}`);
  expect(notesOf(a)).toEqual([{ code: "memory-held-others", id: heldId(place()) }]);
  a.save(NAME, "one\n\ntwo\nthree\n");
  await settleMemories(a, b);
  for (const machine of [a, b]) expect(machine.read(NAME)).toBe("of b\n\none\n\ntwo\nthree\n");
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
