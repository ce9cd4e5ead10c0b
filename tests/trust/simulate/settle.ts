import type { Cluster } from "./cluster.ts";
import { bindAnew } from "./moves.ts";
import { pass, waitFor } from "./passing.ts";
import { checkDisks, checkLedgers, differences } from "./rest.ts";
import { CALM } from "./weather.ts";

/** Longer than anything that waits by itself: lost events, late saves, a full ring of asking. */
const REST_MS = 75_000;
const REST_AGAIN_MS = 120_000;
const REST_TIMES_MAX = 5;

/** All trouble ends, and there is time until nothing differs any more. */
export function settle(cluster: Cluster): void {
  const { network, hosts, machines, clones, projects } = cluster;
  network.weather = CALM;
  cluster.note("calm");
  for (const server of hosts.servers) server.disk.heal();
  for (const machine of machines) {
    machine.disk.heal();
    machine.volume.failing = 0;
  }
  let found: string[] = [];
  pass(cluster, REST_MS);
  void clones.run(() => clones.settle(machines, projects));
  for (let time = 0; time < REST_TIMES_MAX && cluster.problems.length === 0; time++) {
    for (const machine of machines) {
      for (const project of projects) bindAnew(cluster, machine, project);
    }
    found = differences(cluster);
    const isBusy = cluster.editor.open + clones.running > 0;
    if (found.length === 0 && !isBusy) return;
    pass(cluster, REST_AGAIN_MS);
  }
  for (const difference of found) cluster.report(difference);
}

/** What all ledgers and disks say of a run at rest. Returns how many lines are double. */
export function checkAll(cluster: Cluster): number {
  if (cluster.problems.length > 0) return 0;
  const doubled = checkLedgers(cluster);
  waitFor(cluster, checkDisks(cluster));
  cluster.scheduler.runUntil(cluster.scheduler.now);
  return doubled;
}
