import { expect, setDefaultTimeout, test } from "bun:test";
import * as Y from "yjs";
import { TEXT_ROOT } from "../../shared/replica/document/document.ts";
import { MadeUpMachine } from "../support/made-up-machine.ts";
import { pick, seededRandom } from "../support/random.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(120_000);

const RUNS = 1000;
const STEPS = 30;

/** Somebody at a machine: what their editor shows, and whether it ever reads the file again. */
interface Person {
  buffer: string;
  readonly reloads: "always" | "sometimes" | "never";
}

class Run {
  readonly random: () => number;
  readonly service = new Y.Doc();
  readonly machines: MadeUpMachine[];
  readonly people: Person[];
  readonly problems: string[] = [];
  /** Lines that somebody saved, and those that somebody surely meant to delete. */
  readonly written = new Set<string>();
  readonly deleted = new Set<string>();
  now = 1_000_000;
  #count = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    const start = new Y.Doc();
    start.clientID = 1;
    start.getText(TEXT_ROOT).insert(0, "# Guide\n\nfirst\n\nsecond\n\nthird\n");
    const update = Y.encodeStateAsUpdate(start);
    Y.applyUpdate(this.service, update);
    const count = this.random() < 0.5 ? 2 : 3;
    this.machines = Array.from({ length: count }, (_, at) => {
      return new MadeUpMachine(`m${at}`, 10 + at, update);
    });
    this.people = this.machines.map(({ file }) => {
      return {
        buffer: file,
        reloads: pick(this.random, ["always", "sometimes", "never"] as const),
      };
    });
    for (const line of wordsOf(this.machines[0]?.file ?? "")) this.written.add(line);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  step(): void {
    this.now += pick(this.random, [500, 5000, 20_000, 45_000, 70_000]);
    const at = this.below(this.machines.length);
    const machine = this.machines[at] as MadeUpMachine;
    if (this.chance(0.4)) machine.sync(this.service, this.now);
    else this.#edit(machine, this.people[at] as Person);
  }

  rest(): void {
    for (let round = 0; round < 4; round++) {
      for (const machine of this.machines) machine.sync(this.service, this.now);
    }
    const texts = new Set(this.machines.flatMap(({ text, file }) => [text, file]));
    if (texts.size !== 1) this.problems.push("the machines differ at rest");
    const there = new Set(wordsOf([...texts][0] ?? ""));
    for (const line of this.written) {
      if (!there.has(line) && !this.deleted.has(line)) this.problems.push(`"${line}" is lost`);
    }
  }

  #edit(machine: MadeUpMachine, person: Person): void {
    if (person.reloads === "always" || (person.reloads === "sometimes" && this.chance(0.5))) {
      person.buffer = machine.file;
    }
    const lines = person.buffer.split("\n").slice(0, -1);
    const at = this.below(lines.length + 1);
    const kind = this.random();
    if (kind < 0.35) lines.splice(at, 0, this.#line(machine));
    else if (kind < 0.6) lines.splice(at, 1 + this.below(2));
    else if (kind < 0.75) lines.splice(at, 0, ...lines.splice(this.below(lines.length), 2));
    else if (kind < 0.85 && this.deleted.size > 0)
      lines.splice(at, 0, pick(this.random, [...this.deleted]));
    person.buffer = lines.map((line) => `${line}\n`).join("");
    this.#save(machine, person.buffer);
  }

  /** Now and then a line that others may type, too. */
  #line({ name }: MadeUpMachine): string {
    return this.chance(0.2) ? `common ${this.below(6)}` : `line ${++this.#count} of ${name}`;
  }

  /** What must hold of each save. */
  #save(machine: MadeUpMachine, saved: string): void {
    const before = machine.file;
    const unseen = machine.unseenAt(this.now);
    const told = machine.conflicts.length;
    const standing = countsOf(machine.text);
    machine.save(saved, this.now);
    const after = countsOf(machine.text);
    const [had, has] = [countsOf(before), countsOf(saved)];
    const conflicts = machine.conflicts.slice(told).flatMap(({ versions }) => versions);
    const isTold = (line: string) => conflicts.some(({ text }) => text.includes(`${line}\n`));
    for (const line of has.keys()) {
      this.written.add(line);
      if (!after.has(line)) this.problems.push(`the save's "${line}" is not in the document`);
    }
    for (const [line, count] of had) {
      if ((has.get(line) ?? 0) >= count) continue;
      // Of two copies each of two people may take away another one.
      if ((after.get(line) ?? 0) < (standing.get(line) ?? 0)) this.deleted.add(line);
      if (has.has(line)) continue;
      const isKept = after.has(line);
      if (isKept && unseen.length === 0) this.problems.push(`"${line}" was not deleted`);
      if (isKept && !isTold(line)) this.problems.push(`"${line}" came back in silence`);
      if (!isKept) this.deleted.add(line);
    }
    for (const line of unseen.flatMap(({ taken }) => taken.map((each) => each.trimEnd()))) {
      if (had.has(line) || !has.has(line) || isTold(line)) continue;
      this.problems.push(`"${line}" was brought back in silence`);
    }
  }
}

function wordsOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function countsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of wordsOf(text)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

test("whatever made-up people save, nothing is lost, undone or brought back in silence", () => {
  const first = Number(process.env.MEMSYNC_TEST_SEED ?? 1);
  for (let seed = first; seed < first + RUNS; seed++) {
    const run = new Run(seed);
    for (let step = 0; step < STEPS && run.problems.length === 0; step++) run.step();
    if (run.problems.length === 0) run.rest();
    expect({ seed, problems: run.problems }).toEqual({ seed, problems: [] });
  }
});
