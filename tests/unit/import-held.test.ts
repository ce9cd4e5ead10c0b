import { afterEach, beforeEach, expect, test } from "bun:test";
import { listHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { importMemories } from "../../daemon/portable/import-memories.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { MEMORY_PROJECT, MemoryMachine } from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const NAME = "one.md";
const TEXT = `one\nThe token is ${PLANTED.github}\n`;

let a: MemoryMachine;
beforeEach(async () => {
  a = await MemoryMachine.start("anna");
  a.save(NAME, "one\n");
  await a.look();
  a.save(NAME, TEXT);
  await a.look();
});
afterEach(() => a.remove());

async function imported(value: string) {
  const memory = { key: a.keyOf(NAME), value, updated_at: "2026-01-01T00:00:00Z" };
  return await a.store.write(async (context) => {
    const open = await context.open({ owner: LOCAL_ACCOUNT, name: MEMORY_PROJECT });
    return await importMemories(context, open, { memories: [memory], onMemory: () => {} });
  });
}

async function shown(): Promise<(string | undefined)[]> {
  return (await readLocalMemories(a.store.reader, MEMORY_PROJECT)).map(({ value }) => value);
}

test("an import of what is held of a file changes nothing, and a mended file is shown", async () => {
  expect(await imported(TEXT)).toMatchObject({ unchanged: 1, held: 0 });
  expect(await listHeld(a.store.reader)).toHaveLength(1);
  a.save(NAME, "one\nAsk Bob.\n");
  await a.look();
  expect(await shown()).toEqual(["one\nAsk Bob.\n"]);
});

test("an import of another text is shown, and leaves what is held of the file", async () => {
  expect(await imported("of another\n")).toMatchObject({ updated: 1 });
  expect(await shown()).toEqual(["of another\n"]);
  expect((await listHeld(a.store.reader)).map(({ value }) => value)).toEqual([TEXT]);
});
