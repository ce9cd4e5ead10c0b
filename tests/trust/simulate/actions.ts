import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machine.ts";
import { writeMemory, writeOnService, writeTextOnService } from "./memory-actions.ts";

const JUMP_MS_MAX = 2 * 60 * 60 * 1000;
/** A fault strikes one of the next writes. */
const WRITES_MAX = 60;
const FAILING_WRITES_MAX = 8;
const OUTAGE_MS_MAX = 15_000;

interface Action {
  readonly weight: number;
  run(cluster: Cluster, machine: Machine): void;
}

/** What happens in a run, and how often beside the rest. */
const ACTIONS: readonly Action[] = [
  { weight: 24, run: writeMemory },
  { weight: 18, run: (cluster, machine) => edit(cluster, machine) },
  { weight: 1, run: (cluster, machine) => removeFile(cluster, machine) },
  { weight: 5, run: writeOnService },
  {
    weight: 3,
    run: (cluster) => {
      writeTextOnService(cluster).catch(() => cluster.note("the service gave no answer"));
    },
  },
  { weight: 4, run: (cluster, machine) => endMachine(cluster, machine) },
  { weight: 2, run: (cluster) => endServer(cluster) },
  { weight: 1.5, run: (cluster) => cluster.server.isUp && cluster.copyServer() },
  { weight: 1, run: (cluster) => cluster.restoreServer() },
  { weight: 3, run: (cluster, machine) => spoilDisk(cluster, machine) },
  { weight: 1, run: (cluster) => spoilServerDisk(cluster) },
  { weight: 3, run: (cluster, machine) => cutNetwork(cluster, machine) },
  { weight: 2, run: (cluster, machine) => setClock(cluster, machine) },
  { weight: 2, run: (cluster, machine) => syncNow(cluster, machine) },
];

const WEIGHT = ACTIONS.reduce((sum, { weight }) => sum + weight, 0);

/** Lets one thing happen. */
export function act(cluster: Cluster): void {
  const machine = cluster.dice.pick(cluster.machines);
  let rest = cluster.dice.between(0, WEIGHT);
  for (const action of ACTIONS) {
    rest -= action.weight;
    if (rest >= 0) continue;
    action.run(cluster, machine);
    return;
  }
}

function edit(cluster: Cluster, machine: Machine): void {
  const project = cluster.dice.pick(cluster.projects);
  cluster.note(`${machine.name} edits ${project}`);
  cluster.editor.edit(machine, project);
}

function removeFile(cluster: Cluster, machine: Machine): void {
  const project = cluster.dice.pick(cluster.projects);
  cluster.note(`${machine.name} removes ${project}'s file`);
  cluster.editor.remove(machine, project);
}

function endMachine(cluster: Cluster, machine: Machine): void {
  if (!machine.running) return;
  if (cluster.dice.chance(0.7)) {
    cluster.crashMachine(machine, cluster.dice.chance(0.4));
    return;
  }
  cluster.note(`${machine.name} stops`);
  machine.stop().then(
    () => cluster.crashMachine(machine, false),
    () => cluster.crashMachine(machine, false),
  );
}

function endServer(cluster: Cluster): void {
  if (cluster.server.isUp) cluster.crashServer(cluster.dice.chance(0.4));
}

function spoilDisk(cluster: Cluster, machine: Machine): void {
  const { dice } = cluster;
  if (dice.chance(0.3)) {
    machine.volume.failing = 1 + dice.below(FAILING_WRITES_MAX);
    cluster.note(`${machine.name}'s folders fill up`);
    return;
  }
  machine.disk.fail(drawFault(cluster));
  cluster.note(`${machine.name}'s disk begins to fail`);
}

function spoilServerDisk(cluster: Cluster): void {
  cluster.server.disk.fail(drawFault(cluster));
  cluster.note("the service's disk begins to fail");
}

function drawFault({ dice }: Cluster) {
  const writes = dice.below(WRITES_MAX);
  if (dice.chance(0.6)) return { kind: "stop" as const, writes };
  return { kind: "full" as const, writes, times: 1 + dice.below(FAILING_WRITES_MAX) };
}

function cutNetwork(cluster: Cluster, machine: Machine): void {
  const { dice, network, scheduler } = cluster;
  cluster.note(`${machine.name} is cut off`);
  machine.cutNetwork();
  scheduler.after(dice.between(0, OUTAGE_MS_MAX), { alive: true }, () => {
    cluster.note(`${machine.name} is connected`);
    network.restore(machine.name);
  });
}

function setClock(cluster: Cluster, machine: Machine): void {
  const jumpMs = Math.round(cluster.dice.between(-JUMP_MS_MAX, JUMP_MS_MAX));
  // Across a restart, how old a buffer was can't be told when the clock was set in between.
  if (!cluster.editor.isQuietOn(machine)) return;
  const whose = cluster.dice.chance(0.8) ? machine : cluster.server;
  cluster.note(`${whose === machine ? machine.name : "the service"}'s clock jumps ${jumpMs} ms`);
  whose.clock.jump(jumpMs);
}

function syncNow(cluster: Cluster, machine: Machine): void {
  const { running } = machine;
  if (!running) return;
  cluster.note(`${machine.name} syncs now`);
  running.calls.hurried();
  void running.engine.syncNow();
}
