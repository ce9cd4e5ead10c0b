import { beforeEach, expect, test } from "bun:test";
import { settleMemoryFile } from "../../daemon/home/memory-files.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

test("a deletion beside a conflict takes all versions of it, and none where one came after it was shown", async () => {
  for (const name of ["conflict.md", "later.md", "edited.md"]) {
    a.save(name, "one\n");
    await settleMemories(a, b);
    a.save(name, "of a\n");
    b.save(name, "of b\n");
    await settleMemories(a, b);
    expect(await a.values(name)).toEqual(["of b\n", "of a\n"]);
    a.drop(name);
    await settleMemories(a, b);
  }
  const asked = { folder: a.memories } as const;
  await a.settle("conflict.md", "delete");
  b.save("edited.md", "edited by b\n");
  await settleMemories(a, b);
  b.save("later.md", "later by b\n");
  await b.look();
  await a.store.write(({ db }) => settleMemoryFile(db, { ...asked, name: "later.md" }, "delete"));
  await exchangeKept(a, b);
  await a.settle("edited.md", "delete");
  await settleMemories(a, b);
  for (const each of [a, b]) {
    expect(await each.values("conflict.md")).toEqual([]);
    expect(await each.values("later.md")).toEqual(["later by b\n", "of a\n"]);
    expect(await each.values("edited.md")).toEqual(["edited by b\n", "of a\n"]);
  }
});
