import type { Cluster } from "./cluster.ts";

const STEP_MS = 100;
const WAIT_MS_MAX = 2000;

/** Lets time pass, in steps between which stopped processes are taken away. */
export function pass(cluster: Cluster, milliseconds: number): void {
  const { scheduler } = cluster;
  const end = scheduler.now + milliseconds;
  do {
    scheduler.runUntil(Math.min(end, scheduler.now + STEP_MS));
    cluster.buryStopped();
  } while (scheduler.now < end && cluster.problems.length === 0);
}

/** Lets time pass until a promise of the run's own is settled; a rejection is a problem. */
export function waitFor(cluster: Cluster, promise: Promise<unknown>): void {
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
  for (let tries = 0; !over && tries < WAIT_MS_MAX; tries++) {
    cluster.scheduler.runUntil(cluster.scheduler.now + 1);
  }
  if (!over) throw new Error("a promise of the run's own does not settle");
}
