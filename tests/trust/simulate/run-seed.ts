import { act } from "./actions.ts";
import { drawCast } from "./cast.ts";
import { Cluster } from "./cluster.ts";
import { Dice } from "./dice.ts";
import { bindAnew } from "./moves.ts";
import { checkDisks, checkLedgers, differences } from "./rest.ts";
import { RUN } from "./scheduler.ts";
import { CALM } from "./weather.ts";

const ACTIONS_MIN = 20;
const ACTIONS_MAX = 70;
const START_MS_MAX = 2000;
/** Between two things that happen: mostly close together. */
const GAPS_MS = [5, 100, 600, 2500] as const;
/** Longer than anything that waits by itself: lost events, late saves, a full ring of asking. */
const REST_MS = 75_000;
const REST_AGAIN_MS = 120_000;
const REST_TIMES_MAX = 5;

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
  const cluster = new Cluster(drawCast(dice), dice, folder);
  let doubled = 0;
  try {
    doubled = run(cluster);
  } catch (thrown) {
    cluster.report(`the run broke off: ${thrown instanceof Error ? thrown.stack : thrown}`);
  }
  cluster.close();
  const { problems, trace, scheduler } = cluster;
  return { seed, problems, trace, lasted: scheduler.now, events: scheduler.events, doubled };
}

function run(cluster: Cluster): number {
  const { scheduler, dice } = cluster;
  begin(cluster);
  const count = ACTIONS_MIN + dice.below(ACTIONS_MAX - ACTIONS_MIN);
  for (let done = 0; done < count && cluster.problems.length === 0; done++) {
    act(cluster);
    pass(cluster, dice.between(0, dice.pick(GAPS_MS)));
  }
  settle(cluster);
  if (cluster.problems.length > 0) return 0;
  const doubled = checkLedgers(cluster);
  waitFor(cluster, checkDisks(cluster));
  scheduler.runUntil(scheduler.now);
  return doubled;
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

/** Lets time pass, in steps between which stopped processes are taken away. */
function pass(cluster: Cluster, milliseconds: number): void {
  const { scheduler } = cluster;
  const end = scheduler.now + milliseconds;
  do {
    scheduler.runUntil(Math.min(end, scheduler.now + STEP_MS));
    cluster.buryStopped();
  } while (scheduler.now < end && cluster.problems.length === 0);
}

const STEP_MS = 100;

/** All trouble ends, and there is time until nothing differs any more. */
function settle(cluster: Cluster): void {
  const { network, hosts, machines } = cluster;
  network.weather = CALM;
  cluster.note("calm");
  for (const server of hosts.servers) server.disk.heal();
  for (const machine of machines) {
    machine.disk.heal();
    machine.volume.failing = 0;
  }
  let found: string[] = [];
  pass(cluster, REST_MS);
  void cluster.clones.run(() => cluster.clones.settle(machines, cluster.projects));
  for (let time = 0; time < REST_TIMES_MAX && cluster.problems.length === 0; time++) {
    for (const machine of machines) {
      for (const project of cluster.projects) bindAnew(cluster, machine, project);
    }
    found = differences(cluster);
    const isBusy = cluster.editor.open + cluster.clones.running > 0;
    if (found.length === 0 && !isBusy) return;
    pass(cluster, REST_AGAIN_MS);
  }
  for (const difference of found) cluster.report(difference);
}

function waitFor(cluster: Cluster, promise: Promise<void>): void {
  let over = false;
  promise.then(
    () => {
      over = true;
    },
    (thrown) => {
      cluster.report(String(thrown));
      over = true;
    },
  );
  for (let tries = 0; !over && tries < 1000; tries++) {
    cluster.scheduler.runUntil(cluster.scheduler.now + 1);
  }
  if (!over) throw new Error("a promise of the run's own does not settle");
}
