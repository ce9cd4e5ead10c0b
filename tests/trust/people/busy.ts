import { availableParallelism, loadavg } from "node:os";

/** By how much a look comes later where more processes want to run than there are cores. */
export function busy(): number {
  return Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}
