import { deepEqual, equal, ok } from "node:assert/strict";
import type { Lab } from "../../support/lab.ts";
import { pick } from "../../support/random.ts";
import { waitFor } from "../../support/wait-for.ts";
import { KillCluster, type LoadedMachine, type Part } from "./cluster.ts";

const WRITERS = 2;
const WRITES_MAX = 15;
/** Machines come to rest, and are compared, after so many rounds. */
const ROUNDS_BETWEEN_RESTS = 5;

const TARGETS: readonly (readonly Part[])[] = [
  ["a"],
  ["b"],
  ["server"],
  ["a", "b"],
  ["a", "server"],
  ["a", "b", "server"],
];

/** What a run of rounds measured. */
export interface KillReport {
  readonly rounds: number;
  readonly writes: number;
  readonly saves: number;
  /** In milliseconds, from the start of the process to its first answer. */
  readonly restarts: { readonly daemon: readonly number[]; readonly server: readonly number[] };
}

/**
 * Kills processes under load, round after round, and throws when something is missing that was
 * acknowledged, when machines do not come to be equal, or when there is what nobody wrote.
 */
export async function killRounds(
  lab: Lab,
  random: () => number,
  rounds: number,
): Promise<KillReport> {
  await using cluster = await KillCluster.start(lab);
  const { a, b } = cluster.machines;
  const restarts = { daemon: [] as number[], server: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const synced = random() < 0.3 ? await syncAll(cluster, a) : new Map<string, string>();
    for (const each of [a, b]) each.load.start(WRITERS);
    await untilLoaded(a, b, random);
    const parts = pick(random, TARGETS);
    await cluster.kill(parts);
    if (random() < 0.5) await pick(random, [a, b]).save();
    for (const part of [...parts].reverse()) {
      restarts[part === "server" ? "server" : "daemon"].push(await cluster.restart(part));
    }
    await Promise.all([a.load.stop(), b.load.stop()]);
    expectHeld("the server", await cluster.held(), synced);
    for (const each of [a, b]) {
      expectHeld(each.machine.name, await each.memories(cluster.project), each.load.confirmed);
    }
    if ((round + 1) % ROUNDS_BETWEEN_RESTS === 0 || round === rounds - 1) await rest(cluster);
  }
  const writes = a.load.confirmed.size + b.load.confirmed.size;
  return { rounds, writes, saves: a.lines.size + b.lines.size, restarts };
}

async function untilLoaded(a: LoadedMachine, b: LoadedMachine, random: () => number) {
  const size = () => a.load.confirmed.size + b.load.confirmed.size;
  const enough = size() + 1 + Math.floor(random() * WRITES_MAX);
  const saves = Math.floor(random() * 3);
  for (let at = 0; at < saves; at++) await pick(random, [a, b]).save();
  await waitFor("some writes", () => size() >= enough);
}

/** What is acknowledged by the service from here on. */
async function syncAll(cluster: KillCluster, a: LoadedMachine): Promise<Map<string, string>> {
  const saved = new Map(a.load.confirmed);
  await a.machine.memsync("sync", "--wait", "30");
  expectHeld("the server", await cluster.held(), saved);
  return saved;
}

function expectHeld(
  where: string,
  held: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
): void {
  const missing = [...wanted].filter(([key, value]) => held.get(key) !== value);
  deepEqual({ where, missing }, { where, missing: [] });
}

/** Everything that was acknowledged is everywhere, and nothing is that nobody wrote. */
async function rest(cluster: KillCluster): Promise<void> {
  const { a, b } = cluster.machines;
  const { project } = cluster;
  await waitFor("equal machines", async () => {
    await Promise.all([a.machine.syncOnce(), b.machine.syncOnce()]);
    deepEqual(sorted(await a.memories(project)), sorted(await b.memories(project)));
    deepEqual(sorted(await a.memories(project)), sorted(await cluster.held()));
    equal(await a.machine.doc(project), await b.machine.doc(project));
    const lines = (await a.machine.doc(project)).split("\n");
    const lost = [...a.lines, ...b.lines].filter((line) => !lines.includes(line));
    deepEqual(lost, []);
    return true;
  });
  const held = await a.memories(project);
  for (const each of [a, b]) expectHeld("rest", held, each.load.confirmed);
  for (const [key, value] of held) {
    const written = a.load.attempted.get(key) ?? b.load.attempted.get(key);
    equal(value, written, "nobody wrote this");
  }
  const saved = new Set([...a.lines, ...b.lines, ""]);
  const lines = (await a.machine.doc(project)).split("\n");
  ok(
    lines.every((line) => saved.has(line)),
    "nobody wrote this line",
  );
  equal(new Set(lines).size, lines.length, "no line is doubled");
}

function sorted(memories: ReadonlyMap<string, string>): [string, string][] {
  return [...memories].sort();
}
