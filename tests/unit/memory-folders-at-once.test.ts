import { expect, test } from "bun:test";
import { exchangeKept } from "../support/keeper-machine.ts";
import { MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { pick, seededRandom } from "../support/random.ts";

/** Each of them found a mistake once. */
const SEEDS = [1, 7, 15, 30, 43];
const STEPS = 24;
const TOPICS = ["one.md", "two.md", "three.md"];
const INDEX = "MEMORY.md";

/** Assistants at several machines, and what they have done. */
class Story {
  /** Lines that somebody added to the index, and nobody removed. */
  readonly lines = new Set<string>();
  /** Every text of a topic that a look has found. */
  readonly texts = new Map<string, Set<string>>();
  #count = 0;

  constructor(
    readonly machines: readonly MemoryMachine[],
    readonly random: () => number,
  ) {}

  async step(): Promise<void> {
    const machine = pick(this.random, this.machines);
    const other = pick(this.random, this.machines);
    const kind = this.random();
    if (kind < 0.35) await this.#addLine(machine);
    else if (kind < 0.65) await this.#writeTopic(machine, pick(this.random, TOPICS));
    else if (kind < 0.75) this.#drop(machine, pick(this.random, [...TOPICS, INDEX]));
    else if (kind < 0.8) await this.#restart(machine);
    else if (kind < 0.9) await machine.look();
    else await exchangeKept(machine, other);
  }

  /** As an assistant does: it reads the file, and writes all of it with one line more. */
  async #addLine(machine: MemoryMachine): Promise<void> {
    const line = `- [Line ${++this.#count}](of-${machine.name}-${this.#count}.md)`;
    const lines = (machine.read(INDEX) ?? "# Memory\n").split("\n").slice(0, -1);
    const at = 1 + Math.floor(this.random() * lines.length);
    machine.save(INDEX, `${[...lines.slice(0, at), line, ...lines.slice(at)].join("\n")}\n`);
    await machine.look();
    this.lines.add(line);
  }

  async #writeTopic(machine: MemoryMachine, name: string): Promise<void> {
    const lines = (machine.read(name) ?? "top\n\nmiddle\n\nend\n").split("\n").slice(0, -1);
    const at = Math.floor(this.random() * (lines.length + 1));
    const removed = this.random() < 0.3 ? 1 : 0;
    lines.splice(at, removed, `${machine.name} ${++this.#count}`);
    const text = `${lines.join("\n")}\n`;
    machine.save(name, text);
    await machine.look();
    this.texts.set(name, (this.texts.get(name) ?? new Set()).add(text));
  }

  /** What the file had is taken first: a file that nobody has looked at is nobody's loss. */
  #drop(machine: MemoryMachine, name: string): void {
    if (machine.read(name) !== undefined) machine.drop(name);
  }

  async #restart(machine: MemoryMachine): Promise<void> {
    await machine.end();
    await machine.begin();
  }

  async restoreAll(): Promise<void> {
    for (const machine of this.machines) {
      for (const name of [...TOPICS, INDEX]) await machine.settle(name, "restore");
    }
  }
}

for (const seed of SEEDS) {
  test(`assistants at three machines lose no line and no text: seed ${seed}`, async () => {
    const machines: MemoryMachine[] = [];
    for (const name of ["anna", "ben", "cleo"]) machines.push(await MemoryMachine.start(name));
    try {
      const story = new Story(machines, seededRandom(seed));
      for (let step = 0; step < STEPS; step++) await story.step();
      await settleMemories(...machines);
      await story.restoreAll();
      await settleMemories(...machines);
      const [first] = machines;
      for (const machine of machines) {
        const index = machine.read(INDEX)?.split("\n") ?? [];
        expect([...story.lines].filter((line) => !index.includes(line))).toEqual([]);
        expect(new Set(index).size).toBe(index.filter((line) => line !== "").length + 1);
        for (const name of [...TOPICS, INDEX]) {
          expect([name, machine.read(name)]).toEqual([name, first?.read(name)]);
        }
        expect(machine.keeper.status[0]?.asked ?? []).toEqual([]);
      }
      for (const [name, texts] of story.texts) {
        const kept = new Set<string>();
        for (const machine of machines) {
          for (const text of await machine.values(name)) kept.add(text);
          for (const text of await machine.history(name)) kept.add(text);
        }
        expect([...texts].filter((text) => !kept.has(text))).toEqual([]);
      }
    } finally {
      for (const machine of machines) await machine.remove();
    }
  });
}
