import { expect, test } from "bun:test";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { pick, seededRandom } from "../support/random.ts";
import { type Fault, type Machine, SyncCluster } from "../support/sync-cluster.ts";

const KEYS = ["alpha", "beta", "gamma"];
const FAULTS: readonly Fault[] = ["none", "none", "lose request", "lose answer"];
const CALLS_MAX = 8;
const SEEDS = 25;
const STEPS = 50;
const ROUNDS_TO_REST = 4;

type Layer = "user" | undefined;

/** Everything that the interface carries of a document. */
function view({ document }: OpenDocument): unknown {
  const { memories } = document;
  const values = [...memories.keys()].sort().map((key) => [key, memories.get(key)[0]?.value]);
  return { values, content: document.content() };
}

/** What the interface carries of the user's memories, which have no keys there. */
function contents({ document: { memories } }: OpenDocument): unknown {
  return [...memories.keys()].map((key) => String(memories.get(key)[0]?.value)).sort();
}

/** What was sent is read again at once, as the engine does. */
async function settle(machines: readonly Machine[]): Promise<void> {
  for (let round = 0; round < ROUNDS_TO_REST; round++) {
    for (const machine of machines) while (!(await machine.sync("none")));
  }
}

/** All that was ever written. */
class Written {
  readonly values = new Set<string>();
  readonly lines = new Set<string>();
  /** The last value of each key that one machine alone writes and nobody deletes. */
  readonly last = new Map<string, string>();
  #count = 0;

  value(): string {
    const value = `value ${++this.#count}`;
    this.values.add(value);
    return value;
  }

  line(): string {
    const line = `line ${++this.#count}\n`;
    this.lines.add(line);
    return line;
  }
}

/** Writes under a key of the machine's own. */
async function writeOwn(machine: Machine, at: number, written: Written): Promise<void> {
  const key = `of machine ${at}`;
  const value = written.value();
  written.last.set(key, value);
  await machine.edit(({ document }) => {
    document.setEntry("memories", key, { value, now: 1 });
  });
}

async function act(machine: Machine, random: () => number, written: Written): Promise<void> {
  const [what, place] = [random(), random()];
  const layer: Layer = random() < 0.3 ? "user" : undefined;
  const key = pick(random, KEYS);
  if (what < 0.45) {
    const value = written.value();
    await machine.edit(({ document }) => {
      document.setEntry("memories", key, { value, now: 1 });
    }, layer);
  } else if (what < 0.6) {
    await machine.edit(({ document }) => {
      document.deleteEntry("memories", key);
    }, layer);
  } else {
    const line = written.line();
    await machine.edit(({ document }) => {
      const lines = document.content().split(/(?<=\n)/);
      lines.splice(Math.floor(place * (lines.length + 1)), 0, line);
      document.setContent(lines.join(""), 1);
    });
  }
}

async function expectEqual(seed: number, machines: readonly Machine[], written: Written) {
  const views = await Promise.all(machines.map((machine) => machine.read(view)));
  const own = await Promise.all(machines.map((machine) => machine.read(contents, "user")));
  for (const at of machines.keys()) {
    expect({ seed, view: views[at] }).toEqual({ seed, view: views[0] });
    expect({ seed, own: own[at] }).toEqual({ seed, own: own[0] });
  }
  const { values, content } = views[0] as { values: [string, string][]; content: string };
  const shown = [...values.map(([, value]) => value), ...(own[0] as string[])];
  expect({ seed, unknown: shown.filter((value) => !written.values.has(value)) }).toEqual({
    seed,
    unknown: [],
  });
  const last = Object.fromEntries(values.filter(([key]) => written.last.has(key)));
  expect({ seed, last }).toEqual({ seed, last: Object.fromEntries(written.last) });
  // No line is ever deleted here, so every one must be there, once, and no other.
  const lines = content.split(/(?<=\n)/).filter((line) => line !== "");
  expect({ seed, lines: lines.sort() }).toEqual({ seed, lines: [...written.lines].sort() });
}

test("machines on a plain service hold the same at rest, and no line is lost", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed);
    const written = new Written();
    const cluster = new SyncCluster(random, true);
    await cluster.start(3);
    const { machines } = cluster;
    for (let step = 0; step < STEPS; step++) {
      const chance = random();
      const machine = pick(random, machines);
      if (chance < 0.1) await writeOwn(machine, machines.indexOf(machine), written);
      else if (chance < 0.5) await act(machine, random, written);
      else if (chance < 0.8) {
        await machine.sync(pick(random, FAULTS), Math.floor(random() * CALLS_MAX));
      } else if (chance < 0.92) {
        // Their calls cross, and each goes on writing meanwhile.
        const rounds = machines.map((each) => each.sync("none"));
        const writes = machines.map((each, at) => writeOwn(each, at, written));
        await Promise.all([...rounds, ...writes]);
      } else if (chance < 0.96) await machine.restart();
      else await cluster.restartService();
    }
    await settle(machines);
    await expectEqual(seed, machines, written);
    await cluster.stop();
  }
}, 120_000);
