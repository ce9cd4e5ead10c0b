import { beforeEach, expect, test } from "bun:test";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";

const INDEX = "MEMORY.md";
const FIRST = "# Memory\n\n- [One](one.md)\n- [Two](two.md)\n";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
  a.save(INDEX, FIRST);
  await settleMemories(a, b);
});

function advance(milliseconds: number): void {
  for (const machine of [a, b]) machine.world.advance(milliseconds);
}

/** A line of b comes into a's file, at its end. */
async function bring(line: string): Promise<void> {
  b.save(INDEX, `${b.read(INDEX)}${line}\n`);
  await b.look();
  await exchangeKept(a, b);
  await a.keeper.look();
  expect(a.read(INDEX)).toContain(line);
}

test("a save that lacks the last line that came is no half-written one", async () => {
  const before = a.read(INDEX) ?? "";
  await bring("- of b");
  a.save(INDEX, before.replace("- [Two]", "- of a\n- [Two]"));
  await a.keeper.look();
  expect((await a.values(INDEX)).join("")).toContain("- of a\n");
  expect((await a.values(INDEX)).join("")).toContain("- of b\n");
});

test("a text that looks half written, and is saved again and again, is taken after a minute", async () => {
  for (const isKilled of [false, true]) {
    a.save(INDEX, FIRST);
    await settleMemories(a, b);
    advance(61_000);
    await settleMemories(a, b);
    let text = FIRST.replace("- [Two](two.md)\n", "");
    let looks = 0;
    do {
      text = text.replace("- [One]", `- save ${looks} ${isKilled}\n- [One]`);
      a.save(INDEX, text);
      await a.keeper.look();
      if (isKilled) {
        await a.killIn(0);
        await a.begin();
      }
      advance(4000);
      looks += 1;
      expect(looks).toBeLessThan(20);
    } while (!(await a.values(INDEX)).join("").includes(`- save 0 ${isKilled}`));
  }
});

test("what a save while no daemon ran took out is in doubt, whatever was saved after it", async () => {
  const before = a.read(INDEX) ?? "";
  await bring("- of b");
  await a.end();
  advance(2000);
  // A program has read the index before b's line came, and reads it again much later.
  a.save(INDEX, `${before}- of a\n`);
  advance(90_000);
  a.save(INDEX, `${a.read(INDEX)}- of a, later\n`);
  await a.begin();
  await settleMemories(a, b);
  for (const line of ["- of b\n", "- of a\n", "- of a, later\n"]) {
    expect(b.read(INDEX)).toContain(line);
  }
});
