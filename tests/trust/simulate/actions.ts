import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machine.ts";
import { writeMemory, writeOnService, writeSecret, writeTextOnService } from "./memory-actions.ts";
import { moveSomething } from "./moves.ts";
import { RUN } from "./scheduler.ts";

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
  { weight: 1, run: writeSecret },
  { weight: 18, run: (cluster, machine) => edit(cluster, machine) },
  { weight: 2, run: (cluster, machine) => editRoughly(cluster, machine) },
  { weight: 4, run: (cluster, machine) => useGit(cluster, machine) },
  { weight: 5, run: writeOnService },
  {
    weight: 3,
    run: (cluster) => {
      writeTextOnService(cluster).catch(() => cluster.note("the service gave no answer"));
    },
  },
  { weight: 4, run: (cluster, machine) => endMachine(cluster, machine) },
  { weight: 2, run: (cluster) => endServer(cluster) },
  { weight: 1.5, run: (cluster) => copyServer(cluster) },
  { weight: 1, run: ({ hosts }) => hosts.restore() },
  { weight: 3, run: (cluster, machine) => spoilDisk(cluster, machine) },
  { weight: 1, run: (cluster) => spoilServerDisk(cluster) },
  { weight: 3, run: (cluster, machine) => cutNetwork(cluster, machine) },
  { weight: 2, run: (cluster, machine) => setClock(cluster, machine) },
  { weight: 2, run: (cluster, machine) => syncNow(cluster, machine) },
  { weight: 2, run: (cluster, machine) => sweep(cluster, machine) },
  { weight: 3, run: moveSomething },
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

/** A file is removed, or emptied, or written by a program. */
function editRoughly(cluster: Cluster, machine: Machine): void {
  const { dice, editor, cast } = cluster;
  const project = dice.pick(cluster.projects);
  const what = cast.rough ? dice.pick(["remove", "empty", "write", "write"]) : "remove";
  cluster.note(`somebody or something is to ${what} ${project}'s file on ${machine.name}`);
  if (what === "remove") editor.remove(machine, project);
  else if (what === "empty") editor.empty(machine, project);
  else editor.runProgram(machine, project);
}

function useGit(cluster: Cluster, machine: Machine): void {
  cluster.clones.act(machine, cluster.dice.pick(cluster.projects));
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

function endServer({ hosts, dice }: Cluster): void {
  const server = dice.pick(hosts.servers);
  if (server.isUp) hosts.crash(server, dice.chance(0.4));
}

function copyServer({ hosts, dice }: Cluster): void {
  const server = dice.pick(hosts.servers);
  if (server.isUp) hosts.copy(server);
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
  const server = cluster.dice.pick(cluster.hosts.servers);
  server.disk.fail(drawFault(cluster));
  cluster.note(`${server.name}'s disk begins to fail`);
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
  scheduler.after(dice.between(0, OUTAGE_MS_MAX), RUN, () => {
    cluster.note(`${machine.name} is connected`);
    network.restore(machine.name);
  });
}

function setClock(cluster: Cluster, machine: Machine): void {
  const jumpMs = Math.round(cluster.dice.between(-JUMP_MS_MAX, JUMP_MS_MAX));
  // Across a restart, how old a buffer was can't be told when the clock was set in between.
  if (!cluster.editor.isQuietOn(machine)) return;
  const whose = cluster.dice.chance(0.8) ? machine : cluster.dice.pick(cluster.hosts.servers);
  cluster.note(`${whose.name}'s clock jumps ${jumpMs} ms`);
  if (whose === machine) cluster.files.arrivals.blur(machine);
  whose.clock.jump(jumpMs);
}

function syncNow(cluster: Cluster, machine: Machine): void {
  const { running } = machine;
  if (!running) return;
  cluster.note(`${machine.name} syncs now`);
  for (const calls of running.calls) calls.hurried();
  void running.remotes.syncNow();
}

/** As happens every hour. */
function sweep(cluster: Cluster, machine: Machine): void {
  const { running } = machine;
  if (!running) return;
  cluster.note(`${machine.name} sweeps`);
  running.store.sweep().then(
    () => cluster.note(`${machine.name} has swept`),
    () => cluster.note(`${machine.name} could not sweep`),
  );
}
