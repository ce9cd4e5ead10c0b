import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { apartFolders } from "../../cli/views/memory-folders-view.ts";
import { memoryFoldersStatus } from "../../daemon/status/memory-status.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach } from "../support/memory-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

const saidOf = ({ keeper }: MemoryMachine) => {
  const status = memoryFoldersStatus("write", "auto-memory", keeper.status);
  return apartFolders([status]).map((said) => said.replace(/ \S*\/memory/, " …"));
};

test("what comes from elsewhere fills no folder over the files that are read", async () => {
  for (let at = 0; at < 990; at++) a.save(`a${at}.md`, "of anna\n");
  for (let at = 0; at < 30; at++) b.save(`b${at}.md`, "of ben\n");
  b.save("MEMORY.md", "- [b0](b0.md) - of ben\n");
  await a.look();
  await b.look();
  await exchangeKept(a, b);
  await a.look();
  expect(a.files()).toHaveLength(1000);
  expect(a.read("MEMORY.md")).toContain("b0.md");
  expect(a.keeper.status[0]?.why).toBeUndefined();
  expect(saidOf(a)).toEqual(["not written into …: 21 memories, see `memsync status`"]);
  a.save("a5.md", "edited\n");
  await a.look();
  expect(await a.values("a5.md")).toEqual(["edited\n"]);
  a.save("own.md", "one more\n");
  await a.look();
  expect(saidOf(a)).toEqual(["not read: …, see `memsync status`"]);
});
