import { act } from "./actions.ts";
import { drawCast } from "./cast.ts";
import { Cluster } from "./cluster.ts";
import { Dice } from "./dice.ts";
import { pass, waitFor } from "./passing.ts";
import { RUN } from "./scheduler.ts";
import { checkAll, settle } from "./settle.ts";

const ACTIONS_MIN = 20;
const ACTIONS_MAX = 70;
const START_MS_MAX = 2000;
/** Between two things that happen: mostly close together. */
const GAPS_MS = [5, 100, 600, 2500] as const;

/** How one run went. */
export interface SeedResult {
  readonly seed: number;
  readonly problems: readonly string[];
  readonly trace: readonly string[];
  /** Virtual milliseconds, and events. */
  readonly lasted: number;
  readonly events: number;
  /** Lines that stand twice at the end, and that nobody wrote twice. */
  readonly doubled: number;
}

/**
 * One run: what is in it, what happens and in which order is the seed's alone. To be called from
 * the event loop, with no promise under way.
 */
export function runSeed(seed: number, folder: string): SeedResult {
  const dice = new Dice(seed);
  return resultOf(seed, new Cluster(drawCast(dice), dice, folder), run);
}

/** Runs in a cluster, which is closed then. */
export function resultOf(
  seed: number,
  cluster: Cluster,
  work: (cluster: Cluster) => number,
): SeedResult {
  let doubled = 0;
  try {
    doubled = work(cluster);
  } catch (thrown) {
    cluster.report(`the run broke off: ${thrown instanceof Error ? thrown.stack : thrown}`);
  }
  cluster.close();
  const { problems, trace, scheduler } = cluster;
  return { seed, problems, trace, lasted: scheduler.now, events: scheduler.events, doubled };
}

function run(cluster: Cluster): number {
  const { dice } = cluster;
  begin(cluster);
  const count = ACTIONS_MIN + dice.below(ACTIONS_MAX - ACTIONS_MIN);
  for (let done = 0; done < count && cluster.problems.length === 0; done++) {
    act(cluster);
    pass(cluster, dice.between(0, dice.pick(GAPS_MS)));
  }
  settle(cluster);
  return checkAll(cluster);
}

function begin(cluster: Cluster): void {
  const { dice, scheduler } = cluster;
  waitFor(cluster, cluster.prepare());
  for (const project of cluster.projects) {
    const shared = cluster.phrases.paragraph();
    const text = shared.map((line) => `${line}\n`).join("");
    cluster.ledgerOf(project).proposed(text);
    cluster.clones.begin(cluster.machines, project, text);
    for (const machine of cluster.machines) {
      if (dice.chance(0.3)) continue;
      const own = dice.chance(0.5) ? [cluster.phrases.own(machine.name)] : [];
      cluster.files.begin(machine, project, text + own.map((line) => `${line}\n`).join(""));
    }
  }
  for (const server of cluster.hosts.servers) cluster.hosts.start(server);
  for (const machine of cluster.machines) {
    scheduler.after(dice.between(0, START_MS_MAX), RUN, () => cluster.startMachine(machine));
  }
}
