import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { readByItself } from "../../cli/hooks/read-by-itself.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { MEMORY_PROJECT, MemoryMachine } from "../support/memory-machines.ts";

let a: MemoryMachine;
beforeEach(async () => {
  a = await MemoryMachine.start("anna");
});
afterEach(() => a.remove());

/** The keys of the memories that are in the files which a session of the transcript reads. */
async function known(transcript: string | undefined): Promise<string[]> {
  const isKnown = await readByItself(a.store.reader, transcript);
  const place = { document: MEMORY_PROJECT, account: LOCAL_ACCOUNT };
  const memories = await readLocalMemories(a.store.reader, MEMORY_PROJECT);
  return memories.flatMap((memory) => (isKnown({ memory, place }) ? [memory.key] : [])).sort();
}

test("what a session's own folder tells it is known, and nothing else", async () => {
  a.save("MEMORY.md", "- [one](one.md): first\n- [gone](gone.md): gone\n");
  for (const name of ["one.md", "gone.md", "unnamed.md"]) a.save(name, `of ${name}\n`);
  await a.look();
  rmSync(join(a.memories, "gone.md"));
  await a.writeMemory("own", "no file's\n");
  const here = join(dirname(a.memories), "session.jsonl");
  expect(await known(here)).toEqual([a.keyOf("MEMORY.md"), a.keyOf("one.md")]);
  for (const other of [undefined, join(a.folder, ".codex", "sessions", "session.jsonl")]) {
    expect(await known(other)).toEqual([]);
  }
  await a.writeMemory(a.keyOf("one.md"), "of another machine\n");
  expect(await known(here)).toEqual([a.keyOf("MEMORY.md")]);
});
