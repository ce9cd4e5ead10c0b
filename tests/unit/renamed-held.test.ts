import { beforeEach, expect, test } from "bun:test";
import { listHeld } from "../../daemon/home/held-store.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const NAME = "one.md";
const TEXT = `one\nprecious\nThe token is ${PLANTED.github}\n`;

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;
beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

/** Of which files texts are held, and whether each is shown as the memory. */
async function held(): Promise<Record<string, boolean>> {
  const all = await listHeld(a.store.reader);
  return Object.fromEntries(all.map(({ key, shown }) => [key.replace("auto-memory/", ""), shown]));
}

/** The files of which a held text is told as gone. */
function gone(): string[] {
  return a.keeper.status.flatMap(({ notes }) =>
    notes.flatMap(({ name, why }) => (why.code === "memory-held-gone" ? [name] : [])),
  );
}

test.each(["another.md", "two.md"])(
  "a held text goes with its file that is renamed to %s",
  async (to) => {
    a.save(NAME, "one\n");
    await settleMemories(a, b);
    a.save(NAME, TEXT);
    await a.look();
    a.save(to, TEXT);
    a.drop(NAME);
    await settleMemories(a, b);
    expect(await held()).toEqual({ [to]: true });
    expect(gone()).toEqual([]);
    a.save(to, "one\nprecious\nThe token is in the vault\n");
    await settleMemories(a, b);
    expect(await held()).toEqual({});
  },
);

test("a held text that was told as gone is told no more where another file has it", async () => {
  a.save(NAME, TEXT);
  await a.look();
  a.drop(NAME);
  await a.look();
  expect(gone()).toEqual([NAME]);
  a.save("two.md", TEXT);
  await a.look();
  expect(gone()).toEqual([]);
  a.drop("two.md");
  await a.look();
  expect(gone()).toEqual(["two.md"]);
  expect(await held()).toEqual({ "two.md": false });
});

test("of two files with one held text that are both deleted one says that it is gone", async () => {
  for (const name of [NAME, "two.md"]) a.save(name, TEXT);
  await a.look();
  for (const name of [NAME, "two.md"]) a.drop(name);
  await a.look();
  expect(Object.values(await held())).toEqual([false]);
  expect(gone()).toHaveLength(1);
});
