import { expect, test } from "bun:test";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { pick, seededRandom } from "../support/random.ts";
import { type Fault, type Machine, SyncCluster } from "../support/sync-cluster.ts";

const KEYS = ["alpha", "beta", "gamma", "delta", "epsilon"];
const FAULTS: readonly Fault[] = ["none", "none", "lose request", "lose answer", "send twice"];
const SEEDS = 25;
const STEPS = 60;
const ROUNDS_TO_REST = 12;

/** Everything that a person can see of a document, and what it is made of. */
function view({ document }: OpenDocument): unknown {
  const memories = [...document.memories.keys()].sort().map((key) => document.memories.get(key));
  return { memories, content: document.content(), form: document.textForm() };
}

async function settle(machines: readonly Machine[]): Promise<void> {
  for (let round = 0; round < ROUNDS_TO_REST; round++) {
    for (const machine of machines) await machine.sync("none");
  }
}

/** Every value ever written, by key: nothing else may ever be shown. */
class Written {
  readonly #values = new Map<string, Set<string>>();
  readonly lines = new Set<string>();
  #count = 0;

  next(key: string): string {
    const value = `${key} ${++this.#count}`;
    this.#values.set(key, (this.#values.get(key) ?? new Set()).add(value));
    return value;
  }

  nextLine(): string {
    const line = `line ${++this.#count}\n`;
    this.lines.add(line);
    return line;
  }

  has(key: string, value: unknown): boolean {
    return this.#values.get(key)?.has(String(value)) ?? false;
  }
}

async function act(machine: Machine, random: () => number, written: Written): Promise<void> {
  const what = random();
  const key = pick(random, KEYS);
  if (what < 0.5) {
    const value = written.next(key);
    await machine.edit(({ document }) => {
      document.setEntry("memories", key, { value, now: 1 });
    });
  } else if (what < 0.65) {
    await machine.edit(({ document }) => {
      document.deleteEntry("memories", key);
    });
  } else {
    const line = written.nextLine();
    const place = random();
    await machine.edit(({ document }) => {
      const lines = document.content().split(/(?<=\n)/);
      lines.splice(Math.floor(place * (lines.length + 1)), 0, line);
      document.setContent(lines.join(""), 1);
    });
  }
}

test("replicas are equal at rest and show nothing that nobody wrote, whatever the network does", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed);
    const written = new Written();
    const cluster = new SyncCluster(random);
    await cluster.start(3);
    const { machines } = cluster;
    let copies = 0;
    for (let step = 0; step < STEPS; step++) {
      const chance = random();
      const machine = pick(random, machines);
      if (chance < 0.5) await act(machine, random, written);
      else if (chance < 0.9) await machine.sync(pick(random, FAULTS));
      else if (chance < 0.93) await machine.restart();
      else if (chance < 0.96) await cluster.restartService();
      else if (chance < 0.98 || copies === 0) await cluster.copyService(`copy-${copies++}`);
      else await cluster.restoreService(`copy-${Math.floor(random() * copies)}`);
    }
    await settle(machines);
    const views = await Promise.all(machines.map((machine) => machine.read(view)));
    expect({ seed, view: views[1] }).toEqual({ seed, view: views[0] });
    expect({ seed, view: views[2] }).toEqual({ seed, view: views[0] });
    await machines[0]?.read(({ document }) => {
      for (const key of document.memories.keys()) {
        for (const { value } of document.memories.get(key)) {
          expect({ seed, key, value, written: written.has(key, value) }).toMatchObject({
            written: true,
          });
        }
      }
      // No line is ever deleted here, so every one must be there, once, and no other.
      const lines = document
        .content()
        .split(/(?<=\n)/)
        .filter((line) => line !== "");
      expect({ seed, lines: lines.sort() }).toEqual({ seed, lines: [...written.lines].sort() });
    });
    await cluster.stop();
  }
}, 120_000);

test("a service that lost everything gets back what a machine had from others", async () => {
  const cluster = new SyncCluster(seededRandom(7));
  await cluster.start(3);
  const [first, second, third] = cluster.machines;
  if (!first || !second || !third) throw new Error("three machines were started");
  await cluster.copyService("empty");
  await second.edit(({ document }) => {
    document.setEntry("memories", "kept", { value: "by the second", now: 1 });
  });
  await settle([second, first]);
  await cluster.restoreService("empty");
  // The service's word that it lost everything is forgotten by the restart.
  await first.sync("none");
  await first.restart();
  await settle([first, third]);
  const value = await third.read(({ document }) => document.memories.get("kept")[0]?.value);
  expect(value).toBe("by the second");
  await cluster.stop();
});

test("a service that is restored twice in a row gets everything back", async () => {
  const cluster = new SyncCluster(seededRandom(9));
  await cluster.start(2);
  const [first, second] = cluster.machines;
  if (!first || !second) throw new Error("two machines were started");
  const write = async (key: string) => {
    await first.edit(({ document }) => document.setEntry("memories", key, { value: key, now: 1 }));
    await settle([first]);
  };
  await cluster.copyService("empty");
  await write("kept");
  await cluster.copyService("with it");
  await write("another");
  await cluster.restoreService("with it");
  // The service says what it holds, and does not hold it any more when that is acted on.
  await first.sync("none");
  await cluster.restoreService("empty");
  await settle([first, second]);
  const keys = await second.read(({ document }) => [...document.memories.keys()].sort());
  expect(keys).toEqual(["another", "kept"]);
  await cluster.stop();
});

test("a line that two machines wrote at the same time stands once", async () => {
  const cluster = new SyncCluster(seededRandom(8));
  await cluster.start(2);
  const [first, second] = cluster.machines;
  if (!first || !second) throw new Error("two machines were started");
  await first.edit(({ document }) => document.setContent("# Title\n\nend\n", 1));
  await settle([first, second]);
  for (const machine of [first, second]) {
    await machine.edit(({ document }) =>
      document.setContent("# Title\n\nboth wrote this\nend\n", 1),
    );
  }
  await settle([first, second]);
  const contents = await Promise.all(
    [first, second].map((machine) => machine.read(({ document }) => document.content())),
  );
  expect(contents).toEqual(Array(2).fill("# Title\n\nboth wrote this\nend\n"));
  await cluster.stop();
});
