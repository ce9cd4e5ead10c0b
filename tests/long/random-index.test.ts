import { beforeEach, expect, test } from "bun:test";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { pick, seededRandom } from "../support/random.ts";

const INDEX = "MEMORY.md";
const FIRST = "# Memory\n\n- [One](one.md)\n- [Two](two.md)\n";
const READ_MS_MAX = 50_000;
const TIMEOUT_MS = 120_000;

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

/** A program that reads the index, and some time later adds a line, or deletes one that it read. */
class Writer {
  readonly #random: () => number;
  #read: string | undefined;
  #readAt = 0;
  readonly lines: string[] = [];
  readonly deleted = new Set<string>();

  constructor(
    readonly machine: MemoryMachine,
    random: () => number,
  ) {
    this.#random = random;
  }

  /** Whoever saves a minute after having read has seen nothing of that minute. */
  step(): void {
    const now = this.machine.world.now();
    if (this.#read === undefined || now - this.#readAt > READ_MS_MAX) {
      this.#read = this.machine.read(INDEX) ?? "";
      this.#readAt = now;
      return;
    }
    const lines = this.#read.split("\n").slice(0, -1);
    this.#read = undefined;
    const read = lines.filter((line) => line.startsWith("- "));
    if (read.length > 0 && this.#random() < 0.15) {
      const line = pick(this.#random, read);
      this.machine.save(INDEX, `${lines.filter((each) => each !== line).join("\n")}\n`);
      this.deleted.add(line);
      return;
    }
    const line = `- ${this.machine.name} ${this.lines.length}`;
    lines.splice(Math.floor(this.#random() * (lines.length + 1)), 0, line);
    this.machine.save(INDEX, `${lines.join("\n")}\n`);
    this.lines.push(line);
  }
}

for (const seed of [1, 2, 3, 4, 5, 6, 54]) {
  test(
    `whatever is killed and when, no line leaves an index untold that no reader deletes, seed ${seed}`,
    async () => {
      const random = seededRandom(seed);
      const writers = [a, b].map((machine) => new Writer(machine, random));
      const down = new Set<MemoryMachine>();
      for (let step = 0; step < 90; step++) {
        const writer = pick(random, writers);
        const { machine } = writer;
        const is = random();
        if (is < 0.5) writer.step();
        else if (is < 0.65 && !down.has(machine)) {
          await machine.killIn(Math.floor(random() * 12));
          down.add(machine);
        } else {
          if (down.delete(machine)) await machine.begin();
          await machine.keeper.look();
        }
        if (down.size === 0 && random() < 0.5) await exchangeKept(a, b);
        advance(Math.floor(random() * 9000));
      }
      for (const machine of down) await machine.begin();
      advance(6000);
      await settleMemories(a, b);
      const deleted = new Set(writers.flatMap((each) => [...each.deleted]));
      for (const line of writers.flatMap(({ lines }) => lines)) {
        if (deleted.has(line)) continue;
        for (const machine of [a, b]) {
          const versions = await machine.values(INDEX);
          const there = versions.some((each) => each.split("\n").includes(line));
          expect([seed, line, machine.name, there]).toEqual([seed, line, machine.name, true]);
        }
      }
      expect(a.read(INDEX)).toBe(b.read(INDEX) ?? "");
      // Who deletes on purpose is heard the second time, a minute later.
      await settleMemories(a, b);
      const left = (line: string) => !line.startsWith("- ") || !deleted.has(line);
      for (let save = 0; save < 2; save++) {
        const text = (a.read(INDEX) ?? "").split("\n").filter(left).join("\n");
        a.save(INDEX, text);
        await settleMemories(a, b);
        if (save === 1) for (const machine of [a, b]) expect(machine.read(INDEX)).toBe(text);
        advance(61_000);
      }
    },
    TIMEOUT_MS,
  );
}
